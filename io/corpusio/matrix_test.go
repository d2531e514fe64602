package corpusio

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func showPlace(offset int) string { return fmt.Sprintf("%d ", offset) }

func showDocument(d Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", d.Offset, d.Label)
	for _, label := range d.MoreLabels {
		fmt.Fprintf(&b, "+%s", label)
	}
	if d.Features == nil {
		fmt.Fprintf(&b, " %s", d.Text)
	}
	for _, f := range d.Features {
		fmt.Fprintf(&b, " %s=%v", f.Name, f.Value)
	}
	if d.Weight != 1 {
		fmt.Fprintf(&b, " weight %v", d.Weight)
	}
	if len(d.ID) > 0 {
		fmt.Fprintf(&b, " id %s", d.ID)
	}
	if len(d.Group) > 0 {
		fmt.Fprintf(&b, " group %s", d.Group)
	}
	return b.String()
}

func gzipped(t testing.TB, b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(b); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return z.Bytes()
}

func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSvmlight(t *testing.T) {
	names := writeFile(t, "names.txt", "upon\nwhilst\nto\n")
	for content, want := range map[string][]string{
		"1 1:2 3:1\n-1 2:0.5 # a comment\n":              {"0 1 1=2 3=1", "10 -1 2=0.5"},
		"# comment\n\n+1 qid:3 1:1e2 \r\n0 7:3\n":        {"11 +1 1=100", "28 0 7=3"},
		"1,3 1:2 1:3\n2 4:1\n":                           {"0 1+3 1=2 1=3", "12 2 4=1"},
		"1 0:1 5:2\n2 1:1":                               {"0 1 0=1 5=2", "10 2 1=1"},
		"1 1:1\n2\n 1:1\n":                               {"0 1 1=1", "6 2"},
		"1\t1:1\t2:0\n1 1:1 x\n1 1\n1 1:\n1 :1\n1 1:1_0": {"0 1 1=1 2=0"},
	} {
		got := readEvery(t, writeFile(t, "a.svm", content), Reading{Format: "svmlight"})
		if !slices.Equal(got.records, want) {
			t.Errorf("%q: %q, want %q", content, got.records, want)
		}
	}
	for content, want := range map[string][]string{
		"1 1:2 3:1\n2 2:1\n": {"0 1 upon=2 to=1", "10 2 whilst=1"},
		"1 0:2 2:1\n2 1:1\n": {"0 1 upon=2 to=1", "10 2 whilst=1"},
	} {
		got := readEvery(t, writeFile(t, "a.svm", content), Reading{FeatureNames: names})
		if !slices.Equal(got.records, want) {
			t.Errorf("%q: %q, want %q", content, got.records, want)
		}
	}
	empty := writeFile(t, "empty.txt", "a\n\nb\n")
	for _, c := range []struct{ content, names, want string }{
		{"1 1:2\n2 4:1\n", names, "byte 6: feature 4 has no name: names.txt has 3 lines (--feature_names)"},
		{"1 0:1\n2 3:1\n", names, "feature 3 has no name: names.txt has 3 lines"},
		{"1 2:2\n", empty, "feature 2 has no name: line 2 of empty.txt is empty"},
		{"# Column indices are one-based\n1 0:1\n", names, "index 0 in a file whose comment says that indexes start from 1"},
		{"1 1:2\n2 2:-4\n", names, `byte 6: feature "whilst" has the value -4; values must be at least 0; clip or shift them first`},
		{"1 1:nan\n", "", `feature "1" has the value NaN; it must be a number`},
		{"1 1:1e999\n", "", `feature "1" has the value +Inf`},
		{"1 99999999999999999999:1\n", names, "has no name"},
	} {
		_, err := readAll(t.Context(), writeFile(t, "a.svm", c.content), 1<<20, Reading{Format: "svmlight", FeatureNames: c.names})
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: %v, want %s", c.content, err, c.want)
		}
	}
	_, err := readAll(t.Context(), writeFile(t, "a.svm", "1 1:2\n"), 1<<20, Reading{FeatureNames: "missing.txt"})
	var layout *LayoutError
	if !errors.As(err, &layout) || !strings.Contains(err.Error(), "missing.txt: the names of the features cannot be read (--feature_names)") {
		t.Error(err)
	}
}

func TestDetectSvmlight(t *testing.T) {
	for content, want := range map[string]bool{
		"1 1:2 3:1\n": true, "# x\n+1 qid:1 1:2\n": true, "1,2 1:2\n": true, "1\t1:2\n": true, "1\n2 1:1\n": true, "0.5 1:2": true,
		"pos\t1:2\n": false, "1\tat 10:30\n": false, "1\t10:30 9:15\n": false, "1\n2\n": false, "": false, "1\ttext\n": false, "1 1:2\n1\ttext\n": false,
		"1 " + strings.Repeat("1", headBytes): false,
	} {
		h := Head{Bytes: []byte(content)[:min(len(content), headBytes)]}
		if got := (svmlight{}).Detect(h, Reading{}); got != want {
			t.Errorf("%.30q: %v", content, got)
		}
	}
	long := "1"
	for i := range 5000 {
		long += fmt.Sprintf(" %d:1", i)
	}
	if !(svmlight{}).Detect(Head{Bytes: []byte(long[:headBytes])}, Reading{}) {
		t.Error("a long line is not detected")
	}
}

func TestMatrix(t *testing.T) {
	for content, want := range map[string][]string{
		"label,upon,to\na,1,0\nb,2.5,3\n":                         {"14 a upon=1", "20 b upon=2.5 to=3"},
		"upon\tclass\n1\ta\r\n\n0\tb":                             {"11 a upon=1", "17 b"},
		"\"label\";\"u;\"\"pon\"\n\"a\";1\n":                      {"18 a u;\"pon=1"},
		"\ufefflabel, x \na, 7 \nb,1,2\nb\n\"b,1\n\"b\"x,1\n,3\n": {"13 a x=7"},
	} {
		got := readEvery(t, writeFile(t, "a.csv", content), Reading{Format: "matrix"})
		if !slices.Equal(got.records, want) {
			t.Errorf("%q: %q, want %q", content, got.records, want)
		}
	}
	got := readEvery(t, writeFile(t, "a.csv", "score,w,label,x\n1,2,a,3\n1,-1,a,3\n"), Reading{Format: "matrix", LabelColumn: "3", WeightColumn: "w"})
	if !slices.Equal(got.records, []string{"16 a score=1 x=3 weight 2"}) || got.rejections[0].Reason != BadWeight {
		t.Error(got)
	}
	zipped, err := readAll(t.Context(), writeFile(t, "a.csv.gz", string(gzipped(t, []byte("label,x\na,1\n")))), 1, Reading{Format: "matrix"})
	if err != nil || !slices.Equal(zipped.records, []string{"8 a x=1"}) {
		t.Error(zipped, err)
	}
	for _, c := range []struct {
		content string
		reading Reading
		want    string
		corrupt bool
	}{
		{"label,x\na,1\nb,-2\n", Reading{}, `byte 12: column "x" has the value -2; values must be at least 0; clip or shift them first`, true},
		{"label,x\na,\n", Reading{}, `column "x" is empty; a matrix needs a number in each cell`, true},
		{"label,x\na,NaN\n", Reading{}, `column "x" has the value NaN`, true},
		{"label,x,id\na,1,g7\n", Reading{}, `column "id" has "g7", which is not a number; a matrix has the label and columns of numbers; remove the other columns`, true},
		{",label,x\n0,a,1\n", Reading{}, `column 1 is named ""; it is probably the index of a data frame`, false},
		{"label,x,x\na,1,1\n", Reading{}, `two columns are named "x"`, false},
		{"label,class,x\n1,1,1\n", Reading{}, `several columns may be the label: label, class; name it with --label_column`, false},
		{"y,x\n1,1\n", Reading{}, `no column is named as labels usually are; name it with --label_column; the columns are y, x`, false},
		{"label\na\n", Reading{}, `a matrix has a column for each feature`, false},
		{"label,\"x\na,1\n", Reading{}, `an unclosed quote`, false},
		{"label,x\na,1\n", Reading{Header: Absent}, `a matrix needs a first line that names the columns`, false},
		{"label,x\na,1\n", Reading{TextColumns: []string{"x"}}, `a matrix has no text; remove --text_column`, false},
		{"label,x\na,1\n", Reading{MaxRecordBytes: 5}, `is longer than --max_record_bytes`, false},
	} {
		c.reading.Format = "matrix"
		_, err := readAll(t.Context(), writeFile(t, "a.csv", c.content), 1<<20, c.reading)
		var layout *LayoutError
		var corrupt *CorruptError
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &layout) == c.corrupt || errors.As(err, &corrupt) != c.corrupt {
			t.Errorf("%q: %v, want %s", c.content, err, c.want)
		}
	}
}

func FuzzSvmlight(f *testing.F) {
	f.Add("1 1:2 3:1\n-1 2:0.5 # c\n", uint8(3))
	f.Add("1,3 qid:1 0:2\n\n1:1\n+1 1:-1\n", uint8(1))
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		fuzzText(t, content, int64(size)+1, Reading{Format: "svmlight"})
	})
}

func FuzzMatrix(f *testing.F) {
	f.Add("label,upon,to\na,1,0\nb,2.5,3\n", uint8(3))
	f.Add("\"label\";\"u;\"\"pon\"\n\"a\";1\n", uint8(1))
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		fuzzText(t, content, int64(size)+1, Reading{Format: "matrix"})
	})
}

// fuzzText reads a text whole and in ranges.
func fuzzText(t *testing.T, content string, size int64, reading Reading) {
	name := writeFile(t, "fuzzed", content)
	whole, err := readAll(t.Context(), name, 1<<30, reading)
	var layout *LayoutError
	var corrupt *CorruptError
	var header *HeaderError
	if err != nil {
		if !errors.As(err, &layout) && !errors.As(err, &corrupt) && !errors.As(err, &header) {
			t.Fatal(err)
		}
		return
	}
	parts, err := readAll(t.Context(), name, size, reading)
	if err != nil || !slices.Equal(parts.records, whole.records) || !slices.Equal(parts.rejections, whole.rejections) {
		t.Fatalf("%v: %q %v, want %q %v", err, parts.records, parts.rejections, whole.records, whole.rejections)
	}
}
