package pipeline

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/transforms"
)

// What is left out and what is rejected does not depend on how the files were cut, nor on the runner.
func TestDropsAtEverySplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var files []string
	for f := range 3 {
		var text strings.Builder
		for range 300 {
			label := fmt.Sprint("label", rng.IntN(40))
			switch rng.IntN(20) {
			case 0:
				label = ""
			case 1:
				fmt.Fprintf(&text, "no tab %d\xff\n", rng.IntN(100))
			}
			fmt.Fprintf(&text, "%s\tword%d\n", label, rng.IntN(9))
		}
		files = append(files, save(t, fmt.Sprintf("%d.tsv", f), text.String()))
	}
	var want string
	var counts map[string]string
	for _, size := range []int64{0, 7, 100, 1000} {
		d := documents(t, files...)
		d.Reading.LabelMap = map[string]string{"label1": "label2", "label3": "label4", "label5": "label6"}
		d.Reading.Classes = []string{"label2", "label4", "label7"}
		d.MaxRejected = transforms.Budget{Text: "50%", Share: 0.5, Number: -1}
		d.MaxClasses = 3
		d.Rejects = transforms.Rejects{Output: t.TempDir(), Samples: true}
		d.Tuning.RangeBytes = size
		dir := filepath.Join(t.TempDir(), "out")
		if err := runCount(t, dir, d); err != nil {
			t.Fatal(err)
		}
		m := read(t, dir).Manifest
		m.Rejected.Name = ""
		rows := readRejected(t, d.Rejects.Output)
		got, err := json.Marshal([]any{m.Drops, m.Examples, m.Classes, m.Features, m.Rejected.Rows, rows, m.Warnings})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want, counts = string(got), sums(t, dir)
			if n := len(m.Drops.OtherClasses.Labels); n != modelio.MaxOtherLabels || m.Drops.OtherClasses.More != 34-n {
				t.Errorf("other classes: %+v", m.Drops.OtherClasses)
			}
			if len(m.Drops.Files) != 3 || m.Rejected.Rows != int64(len(rows)) || len(rows) < 10 {
				t.Errorf("%d rejected, %+v", len(rows), m.Drops)
			}
		}
		if string(got) != want || !maps.Equal(sums(t, dir), counts) {
			t.Fatalf("ranges of %d bytes:\n%s\nwant\n%s", size, got, want)
		}
	}
}

func readRejected(t *testing.T, dir string) (rows []modelio.RejectedRow) {
	t.Helper()
	err := tableio.Read(t.Context(), filepath.Join(dir, modelio.RejectedFile), func(r *modelio.RejectedRow) error {
		row := *r
		if r.Text != nil {
			text := strings.Clone(*r.Text)
			row.Text = &text
		}
		row.Source, row.Reason = strings.Clone(r.Source), strings.Clone(r.Reason)
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Of a corrupt file, the documents before the damage count, and the checksum is that of all its bytes.
func TestSkipCorrupt(t *testing.T) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "a\tword%d\n", i*i*7919%100003)
	}
	whole := packed(t, []byte(text.String()), ".gz")
	cut := save(t, "cut.tsv.gz", string(whole[:len(whole)/2]))
	broken := save(t, "broken.tsv.gz", string(whole[:len(whole)/2])+"rubbish"+string(whole[len(whole)/2+7:]))
	fine := save(t, "fine.tsv", "b\tsome words\n")
	run := func(size int64, skip bool, files ...string) (modelio.Manifest, map[string]string, error) {
		d := documents(t)
		d.Reading.SkipCorrupt = skip
		var err error
		if d.Files, err = corpusio.List(t.Context(), files, d.Reading); err != nil {
			t.Fatal(err)
		}
		d.Tuning.RangeBytes = size
		dir := filepath.Join(t.TempDir(), "out")
		if err := runCount(t, dir, d); err != nil {
			checkNothingPublished(t, dir)
			return modelio.Manifest{}, nil, err
		}
		return read(t, dir).Manifest, sums(t, dir), nil
	}
	if _, _, err := run(0, false, cut, fine); exitOf(err) != modelio.ExitData {
		t.Errorf("without skip: %v", err)
	}
	first, counts, err := run(0, true, cut, broken, fine)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]int64{} // the damage made some labels of its own
	for _, c := range first.Classes {
		documents[c.Label] = *c.Documents
	}
	if len(first.Corrupt) != 2 || len(first.Inputs) != 3 || documents["a"] < 15000 || documents["b"] != 1 || len(first.Warnings) != 2 {
		t.Errorf("corrupt %v, inputs %v, classes %v, warnings %q", first.Corrupt, first.Inputs, first.Classes, first.Warnings)
	}
	again, others, err := run(10, true, fine, broken, cut)
	if err != nil || !maps.Equal(counts, others) || fmt.Sprint(again.Corrupt, again.Inputs) != fmt.Sprint(first.Corrupt, first.Inputs) {
		t.Errorf("in other ranges: %v, %v", again.Corrupt, err)
	}
	for _, in := range first.Inputs {
		if want := fileio.Checksum(crc32.Checksum([]byte(readFile(t, in.Name)), crc32.MakeTable(crc32.Castagnoli))); in.CRC32C != want {
			t.Errorf("%s: CRC-32C %s, want %s", in.Name, in.CRC32C, want)
		}
	}
	_, _, err = run(0, true, save(t, "none.tsv.gz", string(whole[:11])), save(t, "text.tsv.gz", "\xff\xfe\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x80\x81\x82\x83"))
	if exitOf(err) != modelio.ExitData {
		t.Errorf("nothing but damage: %v", err)
	}
	contains(t, err, "no documents before the damage", "(and 1 more files)")
	// The ranges of a plain file are read independently of each other, so that it is an error as ever.
	if _, _, err = run(0, true, save(t, "utf16.tsv", "\xff\xfea\x00\t\x00b\x00\n\x00"), fine); exitOf(err) != modelio.ExitData {
		t.Errorf("UTF-16: %v", err)
	}
}

// A run with too many rejections fails, and leaves the list of them.
func TestRejectsOfARunThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		written bool
		rows    int
	}{
		"too many":     {strings.Repeat("a\tb c\nno tab\n", 20), true, 20},
		"nothing else": {"no tab\n" + strings.Repeat("x", 5000) + "\n", true, 2},
		"none":         {"a\tb c\n", true, 0},
		"a header":     {"label\ttext\nno tab\n", false, 0},
	} {
		d := documents(t, save(t, "in.tsv", c.text))
		d.Rejects = transforms.Rejects{Output: filepath.Join(t.TempDir(), "rejects"), Samples: true}
		dir := filepath.Join(t.TempDir(), "out")
		err := runCount(t, dir, d)
		if (exitOf(err) == modelio.ExitData) != (name != "none") {
			t.Errorf("%s: %v", name, err)
		}
		run := NewRun("count", "test", &d, nil, nil)
		if !c.written {
			if files, _ := filepath.Glob(d.Rejects.Output + "/*"); len(files) > 0 {
				t.Errorf("%s: wrote %v", name, files)
			}
			continue
		}
		rows := readRejected(t, d.Rejects.Output)
		if len(rows) != c.rows {
			t.Errorf("%s: %d rows, want %d", name, len(rows), c.rows)
		}
		for _, row := range rows {
			if row.Reason == string(corpusio.NoTab) && (row.Text == nil || !strings.Contains(*row.Text, "no tab") && len(*row.Text) != 1024) {
				t.Errorf("%s: %+v", name, row)
			}
		}
		if err := modelio.CheckRejected(t.Context(), d.Rejects.Output, run); err != nil {
			t.Errorf("%s, the same run: %v", name, err)
		}
		d.MaxRejected.Text = "2%"
		if err := modelio.CheckRejected(t.Context(), d.Rejects.Output, NewRun("count", "test", &d, nil, nil)); exitOf(err) != modelio.ExitUsage {
			t.Errorf("%s, another run: %v", name, err)
		}
	}
}
