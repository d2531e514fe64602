package corpusio

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// writersOfCSV writes rows with pandas and Polars, and what Python's csv reads from each file.
const writersOfCSV = `
import csv, json, random
import pandas, polars

r = random.Random(5)
pieces = ["a word ", '"', ",", "\n", "\r\n", "it's ", '5" ', ";", "\t", '\\"', "é ", ""]
rows = [(r.choice(["x", "y", 'z "q"', "k, l"]), "".join(r.choice(pieces) for _ in range(r.randrange(8))), str(i)) for i in range(3000)]
names = ["label", "text", "id"]
df = pandas.DataFrame(rows, columns=names)
df.to_csv("minimal.csv", index=False)
df.to_csv("semicolon.csv", sep=";")
df.to_csv("all.csv", index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
df.to_csv("tab.tsv", index=False, sep="\t")
polars.DataFrame(rows, schema=names, orient="row").write_csv("polars.csv", include_bom=True)
read = {}
for name, delimiter in [("minimal.csv", ","), ("semicolon.csv", ";"), ("all.csv", ","), ("tab.tsv", "\t"), ("polars.csv", ",")]:
    with open(name, newline="", encoding="utf-8-sig") as f:
        read[name] = [[row["label"], row["text"]] for row in csv.DictReader(f, delimiter=delimiter)]
json.dump(read, open("read.json", "w"))
`

func TestCSVOfOtherWriters(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(outside.Python(t), "-c", writersOfCSV)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(dir, "read.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string][][2]string{}
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	for name, rows := range read {
		var want []record
		for _, row := range rows {
			want = append(want, record{row[0], row[1]})
		}
		for _, size := range []int64{100, 10_000, 1 << 40} {
			got := readTable(t, filepath.Join(dir, name), size, Reading{})
			if len(want) != 3000 || !slices.Equal(got.records, want) || len(got.rejections) > 0 {
				t.Errorf("%s in ranges of %d: %d of %d rows, %d rejected", name, size, len(got.records), len(want), len(got.rejections))
			}
		}
	}
}
