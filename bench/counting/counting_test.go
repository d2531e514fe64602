package main

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/bench/internal/process"
	"github.com/sparsenb/sparsenb/internal/outside"
)

// The bare loop is this program again.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "loop" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestZipfText(t *testing.T) {
	write := func(what text) string {
		name := filepath.Join(t.TempDir(), "text.tsv")
		_, size, err := what.write(name, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if int(size) != len(content) || size < 100_000 || size > 110_000 {
			t.Errorf("%d bytes for 100,000, said to be %d", len(content), size)
		}
		return string(content)
	}
	what := text{corpus: "none", vocabulary: 500, classes: 3, seed: 7}
	first := write(what)
	if write(what) != first {
		t.Error("the same seed made another text")
	}
	labels, words := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(first) {
		label, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		labels[label] = true
		for _, word := range strings.Fields(text) {
			words[word] = true
		}
	}
	if len(labels) != 3 || len(words) != 500 {
		t.Errorf("%d classes and %d words, not 3 and 500", len(labels), len(words))
	}
	what.seed = 8
	if write(what) == first {
		t.Error("another seed made the same text")
	}
}

func TestCopies(t *testing.T) {
	const documents = "a\tone two\nb\tthree\n" // 18 bytes
	dir := t.TempDir()
	plain, packed, out := filepath.Join(dir, "x.tsv"), filepath.Join(dir, "x.tsv.gz"), filepath.Join(dir, "out")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := io.WriteString(w, documents)
	if err := errors.Join(err, w.Close(), os.WriteFile(plain, []byte(documents), 0o666), os.WriteFile(packed, z.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, corpus := range []string{plain, packed} {
		what, size, err := text{corpus: corpus}.write(out, 50)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if string(content) != strings.Repeat(documents, 3) || size != 54 || !strings.HasSuffix(what, filepath.Base(corpus)+" × 3") {
			t.Errorf("%s, %d bytes: %q", what, size, content)
		}
	}
	if _, _, err := (text{corpus: filepath.Join(dir, "missing")}).write(out, 50); err == nil {
		t.Error("a corpus that was asked for and is missing passed")
	}
}

func shell(name, script string) command {
	return command{name: name, args: []string{"sh", "-c", script}, counted: lastLine}
}

func peer(name, script string) command {
	c := shell(name, script)
	c.peer = true
	return c
}

func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "text.tsv")
	if _, _, err := (text{corpus: "none", vocabulary: 50, classes: 2, seed: 1}).write(file, 10_000); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	missing := peer("missing", "")
	missing.args = []string{filepath.Join(dir, "python")}
	unasked := peer("unasked", "exit 1")
	unasked.unasked = "not asked"
	rows, err := measure(t.Context(), []command{
		{name: bareLoop, args: []string{self, "loop", file, "1", words}},
		shell(ours, `echo '{"tokens": 5000, "features": 7}'`),
		peer("good", `echo progress; echo '{"tokens": 5001, "features": null}'`),
		peer("other", `echo '{"tokens": 5006, "features": 7}'`),
		peer("broken", `echo 'Traceback:' >&2; printf 'working\rno module\n\n' >&2; exit 1`),
		peer("mute", "exit 3"),
		missing, unasked,
	}, 3)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range rows {
		got += fmt.Sprintln(r.name, len(r.samples), r.counts, r.failure)
	}
	want := `bare loop 3 {0 0} 
` + ours + ` 3 {5000 7} 
good 3 {5001 0} 
other 0 {5006 7} counted 5006 tokens where sparsenb counted 5000
broken 0 {0 0} no module
mute 0 {0 0} exit status 3
missing 0 {0 0} fork/exec ` + missing.args[0] + `: no such file or directory
unasked 0 {0 0} not asked
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, r := range rows {
		for _, s := range r.samples {
			if s.Wall <= 0 || s.Memory <= 0 {
				t.Errorf("%s: %v", r.name, s)
			}
		}
	}
	if _, err := measure(t.Context(), []command{shell(ours, "echo broken >&2; exit 1")}, 1); err == nil || !strings.HasSuffix(err.Error(), "broken") {
		t.Errorf("sparsenb failed, and the error is %v", err)
	}
}

// What a process leaves behind belongs to it: it is waited for, and its memory counts.
func TestOrphans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("orphans are adopted on Linux only")
	}
	done := filepath.Join(t.TempDir(), "done")
	script := fmt.Sprintf(`(exec >/dev/null 2>&1; x=$(head -c 60000000 /dev/zero | tr '\0' x); echo ${#x} >%s) &`, done)
	rows, err := measure(t.Context(), []command{{name: "leaves", args: []string{"sh", "-c", script}, output: done}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(done); err != nil {
		t.Error(err)
	}
	if mb := rows[0].samples[0].Memory; mb < 60 {
		t.Errorf("%v MB, and the orphan held 60", mb)
	}
}

// The peers that need no more than the tests' Python count what is there.
func TestPeers(t *testing.T) {
	python := outside.Python(t)
	t.Chdir(outside.Root())
	file := filepath.Join(t.TempDir(), "text.tsv")
	const documents = "good\tOne, two: ONE\nbad\tstraße a \"two\nworse\t\ngood\ttwo_3 x été\n"
	if err := os.WriteFile(file, []byte(documents), 0o666); err != nil {
		t.Fatal(err)
	}
	for ngrams, want := range map[string]counts{words: {7, 5}, "1,2": {11, 9}} {
		commands := slices.DeleteFunc(peerCommands(python, file, ngrams), func(c command) bool {
			needed := []string{"countvectorizer", "hashingvectorizer", "polars", "duckdb"}
			return c.unasked != "" || !slices.Contains(needed, c.args[2])
		})
		// They have to agree with this one, which counts as many.
		said := shell(ours, fmt.Sprintf(`echo '{"tokens": %d, "features": %d}'`, want.Tokens, want.Features))
		rows, err := measure(t.Context(), append([]command{said}, commands...), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.failure != "" || r.counts != want {
				t.Errorf("%s of %s: %v, not %v; %s", r.name, ngrams, r.counts, want, r.failure)
			}
		}
		if len(rows) != map[string]int{words: 5, "1,2": 3}[ngrams] {
			t.Errorf("%s: %d rows", ngrams, len(rows))
		}
	}
}

func example() report {
	sample := func(wall, cpu, memory float64) process.Sample {
		return process.Sample{Wall: wall, CPU: cpu, Memory: memory}
	}
	r := func(c command, tokens, features int64, samples ...process.Sample) row {
		return row{command: c, samples: samples, counts: counts{tokens, features}, failure: c.unasked}
	}
	return report{"three <reviews> & more", 332_000_000, []row{
		r(command{name: bareLoop}, 0, 0, sample(1, 1, 20), sample(2, 2, 20), sample(9, 9, 90)),
		r(command{name: ours}, 5000, 700, sample(1, 2.5, 100)),
		r(command{name: ours + ", 10 × the text", larger: true}, 50_000, 700, sample(10, 24, 104)),
		r(command{name: "Polars"}, 4999, 0, sample(125, 250, 1000), sample(75, 250, 1000)),
		r(command{name: "DuckDB", unasked: "no module"}, 0, 0),
	}}
}

func TestTable(t *testing.T) {
	var got bytes.Buffer
	example().table(&got)
	const want = `three <reviews> & more

| | wall s | MB/s | CPU s | peak MB | CPU / bare loop | CPU / sparsenb | wall / sparsenb | memory / sparsenb | tokens | features |
|---|---|---|---|---|---|---|---|---|---|---|
| bare loop | 2.00 | 166 | 2.00 | 20 | 1.00 | 0.80 | 2.00 | 0.20 |  |  |
| ` + ours + ` | 1.00 | 332 | 2.50 | 100 | 1.25 | 1.00 | 1.00 | 1.00 | 5,000 | 700 |
| ` + ours + `, 10 × the text | 10.0 | 332 | 24.0 | 104 | 12.0 | 9.60 | 10.0 | 1.04 | 50,000 | 700 |
| Polars | 100 | 3 | 250 | 1000 | 125 | 100 | 100 | 10.0 | 4,999 |  |

Not measured:

- DuckDB: no module
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestChart(t *testing.T) {
	dir := t.TempDir()
	if err := example().publish(dir, io.Discard); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "counting.svg"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Title string   `xml:"title"`
		Names []string `xml:"text"`
		Panel []struct {
			Text []string `xml:"text"`
			Bar  []struct {
				Width string `xml:"width,attr"`
			} `xml:"rect"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	const want = "{three <reviews> & more [three <reviews> & more bare loop sparsenb count Polars] " +
		"[{[CPU, seconds 2.00 2.50 250] [{1.1} {1.4} {140.0}]} " +
		"{[wall time, seconds 2.00 1.00 100] [{2.8} {1.4} {140.0}]} " +
		"{[peak memory, MB 20 100 1000] [{2.8} {14.0} {140.0}]}]}"
	if s := fmt.Sprint(got); s != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", s, want, content)
	}
	if table, err := os.ReadFile(filepath.Join(dir, "counting.md")); err != nil || !strings.HasPrefix(string(table), got.Title) {
		t.Errorf("%v: %s", err, table)
	}
}
