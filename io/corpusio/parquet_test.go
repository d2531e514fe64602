package corpusio

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/hostile"
)

// read is what readAll returns.
type read struct {
	records    []string // offset, labels and text or features
	rejections []Rejection
	spans      []Span
}

// readAll reads a file in ranges of a size. All documents come before the error.
func readAll(ctx context.Context, name string, size int64, reading Reading) (c read, err error) {
	if reading.MaxRecordBytes == 0 {
		reading.MaxRecordBytes = maxRecord
	}
	files, err := List(ctx, []string{name}, reading)
	if err != nil {
		return c, err
	}
	ranges, err := Split(ctx, files[0], size, reading)
	if err != nil {
		return c, err
	}
	for _, r := range ranges {
		reader, err := Open(ctx, r, Options{Reading: reading, Reject: func(r Rejection) { c.rejections = append(c.rejections, r) }})
		if err != nil {
			return c, err
		}
		var d Document
		for reader.Next(&d) {
			c.records = append(c.records, showDocument(d))
		}
		if err := reader.Close(); err != nil {
			return c, err
		}
		c.spans = append(c.spans, reader.Span())
	}
	return c, nil
}

// readEvery reads a file in ranges of every size of a list, and compares what they have.
func readEvery(t *testing.T, name string, reading Reading) read {
	t.Helper()
	whole, err := readAll(t.Context(), name, 1<<30, reading)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{1, 2, 7, 100, 1000, 3000, 10_000} {
		got, err := readAll(t.Context(), name, size, reading)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.records, whole.records) || !slices.Equal(got.rejections, whole.rejections) {
			t.Errorf("ranges of %d bytes: %q, %v; want %q, %v", size, got.records, got.rejections, whole.records, whole.rejections)
		}
		for i, s := range got.spans[1:] {
			if _, ok := Join(got.spans[i], s); !ok {
				t.Errorf("ranges of %d bytes: %+v does not follow %+v", size, s, got.spans[i])
			}
		}
		if first, last := got.spans[0], got.spans[len(got.spans)-1]; first.Start != 0 || last.End != last.File.Size {
			t.Errorf("ranges of %d bytes: do not cover the file: %+v, %+v", size, first, last)
		}
	}
	return whole
}

func parquetFile(name string) string { return filepath.Join("testdata", "parquet", name+".parquet") }

func parquetFiles(t testing.TB) (names []string) {
	all, err := filepath.Glob(parquetFile("*"))
	if err != nil || len(all) < 10 {
		t.Fatal(all, err)
	}
	return all
}

func TestParquetWriters(t *testing.T) {
	want := readEvery(t, parquetFile("pyarrow_none"), Reading{})
	if len(want.records) != 39 || len(want.rejections) != 1 || want.rejections[0].Offset != 7 || want.rejections[0].Reason != NoText {
		t.Fatal(want)
	}
	if !strings.HasPrefix(want.records[0], "0 neg ") || !strings.HasPrefix(want.records[38], "39 ") {
		t.Error(want.records)
	}
	if !want.spans[0].NoCRC {
		t.Error("there is a checksum, although not all bytes were read")
	}
	for _, name := range parquetFiles(t) {
		if strings.Contains(name, "no_rows") {
			continue
		}
		got := readEvery(t, name, Reading{})
		if !slices.Equal(got.records, want.records) || len(got.rejections) != 1 || got.rejections[0].Offset != 7 {
			t.Errorf("%s: %q, %v", name, got.records, got.rejections)
		}
	}
	if got := readEvery(t, parquetFile("no_rows"), Reading{}); len(got.records)+len(got.rejections) > 0 {
		t.Error(got)
	}
}

func TestParquetLabels(t *testing.T) {
	for column, want := range map[string]map[int]string{ // by row
		"small": {0: "-2", 4: "2"}, "unsigned": {0: "18446744073709551615", 1: "18446744073709551614"},
		"real": {0: "0", 1: "0.25", 4: "1"}, "double": {1: "1e+21", 0: "0"}, "flag": {0: "true", 1: "false"},
		"price": {0: "-0.50", 8: "0.06", 39: "2.23"}, "day": {0: "2024-05-01", 1: "2021-11-13", 39: "1928-03-26"},
		"time": {0: "2024-05-01T10:30:00", 9: "2024-05-01T10:30:09"}, "zoned": {0: "1960-05-01T10:30:00.5Z"}, "fixed": {12: "0012"},
		"14": nil, "4": {0: "-2"},
	} {
		for _, name := range parquetFiles(t) {
			if strings.Contains(name, "no_rows") || strings.Contains(name, "required") {
				continue
			}
			got, err := readAll(t.Context(), name, 2000, Reading{LabelColumn: column, TextColumns: []string{"label"}})
			if want == nil {
				var layout *LayoutError
				if !errors.As(err, &layout) || !strings.Contains(err.Error(), `column "list" is`) {
					t.Errorf("%s: label %s: error %v", name, column, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: label %s: %v", name, column, err)
				continue
			}
			for row, label := range want {
				found := slices.ContainsFunc(got.records, func(s string) bool { return strings.HasPrefix(s, showPlace(row)+label+" ") })
				if strings.Contains(name, "int96") && column == "zoned" { // without a time zone
					found = true
				}
				if !found {
					t.Errorf("%s: label %s, row %d: want %s, got %q", name, column, row, label, got.records)
				}
			}
			if column == "double" && (len(got.rejections) != 1 || got.rejections[0].Offset != 3 || got.rejections[0].Reason != NoLabel) {
				t.Errorf("%s: NaN: %v", name, got.rejections)
			}
			if column == "flag" && (len(got.rejections) != 1 || got.rejections[0].Offset != 2) {
				t.Errorf("%s: null: %v", name, got.rejections)
			}
		}
	}
}

func TestParquetTexts(t *testing.T) {
	got := readEvery(t, parquetFile("pyarrow_v2_delta"), Reading{TextColumns: []string{"title", "small"}, WeightColumn: "real"})
	if want := "0 neg -2 weight 0"; !strings.Contains(got.records[0], want) {
		t.Errorf("%s, want %s", got.records[0], want)
	}
	if len(got.rejections) == 0 || got.rejections[0].Offset != 1 || got.rejections[0].Reason != BadWeight { // a quarter
		t.Errorf("%v", got.rejections)
	}
	got = readEvery(t, parquetFile("pyarrow"), Reading{MaxRecordBytes: 20})
	if !slices.ContainsFunc(got.rejections, func(r Rejection) bool { return r.Reason == TooLong }) {
		t.Error("no text is too long")
	}
}

func TestParquetLayouts(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile(parquetFile("pyarrow"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	footer := append(slices.Clone(b[:len(b)-4]), "PARE"...)
	for _, c := range []struct {
		name    string
		reading Reading
		want    string
		corrupt bool
	}{
		{parquetFile("pyarrow"), Reading{LabelColumn: "struct"}, `column "struct" is nested; choose columns of strings, numbers, booleans or dates; the columns are label, text, title,`, false},
		{parquetFile("pyarrow"), Reading{TextColumns: []string{"list"}}, `column "list" is nested`, false},
		{parquetFile("pyarrow"), Reading{LabelColumn: "no"}, `there is no column "no" (--label_column); the columns are label, text`, false},
		{parquetFile("pyarrow"), Reading{WeightColumn: "title"}, `column "title" (--weight_column) has no numbers`, false},
		{parquetFile("pyarrow"), Reading{Format: "tsv"}, `is a Parquet file, not tsv; use --format=parquet`, false},
		{filepath.Join("testdata", "matrix.parquet"), Reading{}, "if each is a feature, use --format=matrix; the columns are label, upon, whilst, to", false},
		{parquetFile("pyarrow"), Reading{Format: "matrix"}, `column "text" has no numbers`, false},
		{write("cut.parquet", b[:len(b)-100]), Reading{}, "probably truncated", true},
		{write("head.parquet", b[:100]), Reading{}, "probably truncated", true},
		{write("four.parquet", b[:4]), Reading{}, "the file has only 4 bytes", true},
		{write("footer.parquet", footer), Reading{}, "the file is encrypted", true},
		{write("pare.parquet", append([]byte("PARE\x10\x00\x00\x00"), footer[8:]...)), Reading{}, "the file is encrypted", true},
		{write("text.tsv", []byte("a\tb\n")), Reading{Format: "parquet"}, "the file has only 4 bytes", true},
		{write("long.tsv", bytes.Repeat([]byte("a\tb\n"), 100)), Reading{Format: "parquet"}, "not with PAR1", true},
		{write("x.gz", gzipped(t, b)), Reading{}, "a Parquet file compressed with gzip cannot be read; decompress it", false},
	} {
		_, err := readAll(t.Context(), c.name, 1000, c.reading)
		var layout *LayoutError
		var corrupt *CorruptError
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &layout) == c.corrupt || errors.As(err, &corrupt) != c.corrupt {
			t.Errorf("%s, %+v: %v; want %s", c.name, c.reading, err, c.want)
		}
	}
}

// A text may start as Parquet files do.
func TestDetectParquet(t *testing.T) {
	for content, want := range map[string]string{"PAR1\ttext\n": "0 PAR1 text", "PARENT\ttext\n": "0 PARENT text", "PAR12\tx\n": "0 PAR12 x"} {
		got, err := readAll(t.Context(), writeFile(t, "a.tsv", content), 100, Reading{})
		if err != nil || len(got.records) != 1 || got.records[0] != want {
			t.Errorf("%q: %q, %v", content, got.records, err)
		}
	}
}

// A few bytes may encode many rows.
func TestParquetExpansion(t *testing.T) {
	got, err := readAll(t.Context(), parquetFile("pyarrow_none"), 100, Reading{})
	if err != nil || len(got.records) == 0 {
		t.Fatal(err)
	}
	rows, err := openRows(t.Context(), Range{got.spans[0].File, 0, 1 << 20}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows.read(0)
	if _, _, ok := rows.next(); !ok {
		t.Fatal(rows.err)
	}
	rows.left = 2 * rowBytes // the rest of the row group has more
	for ok := true; ok; {
		_, _, ok = rows.next()
	}
	var corrupt *CorruptError
	if err := rows.Close(); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "row 2: a row group has more than 2000 times its size in values") {
		t.Error(err)
	}
}

// checkRead fails unless the error of reading is one that names the file, and little memory was used.
func checkRead(t *testing.T, name, what string, reading Reading) {
	var err error
	allocated := hostile.Allocated(func() { _, err = readAll(t.Context(), name, 1000, reading) })
	var layout *LayoutError
	var corrupt *CorruptError
	if err != nil && (!errors.As(err, &layout) && !errors.As(err, &corrupt) || !strings.Contains(err.Error(), filepath.Base(name)) || strings.Contains(err.Error(), "panicked")) {
		t.Errorf("%s: %v", what, err)
	}
	if allocated > hostile.MostMemory {
		t.Errorf("%s: %d bytes allocated; %v", what, allocated, err)
	}
}

// In damaged files every byte is wrong once.
func TestParquetDamaged(t *testing.T) {
	names := parquetFiles(t)
	if testing.Short() {
		names = []string{parquetFile("pyarrow_required")}
	}
	damaged := filepath.Join(t.TempDir(), "damaged.parquet")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		step := 1 + len(b)/1500
		for at := 0; at < len(b); at += step {
			for _, mask := range []byte{0xff, 1} {
				changed := slices.Clone(b)
				changed[at] ^= mask
				if err := os.WriteFile(damaged, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				checkRead(t, damaged, name, Reading{SkipCorrupt: at%2 == 0})
			}
		}
	}
}

func TestParquetHostile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "hostile.parquet")
	for what, b := range hostile.Files() {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		checkRead(t, name, what, Reading{Format: "parquet", LabelColumn: "feature", TextColumns: []string{"a"}})
		checkRead(t, name, what, Reading{Format: "matrix", LabelColumn: "feature"})
	}
}

// Of a damaged row group the rows before the damage count, and all other row groups, at every split.
func TestParquetSkipCorrupt(t *testing.T) {
	b, err := os.ReadFile(parquetFile("pyarrow_v2_delta")) // 5 row groups with checksums
	if err != nil {
		t.Fatal(err)
	}
	b = slices.Clone(b)
	at := bytes.Index(b[len(b)/4:], []byte("\x28\xb5\x2f\xfd")) // of a compressed page
	for i := range 20 {
		b[len(b)/4+at+4+i] ^= 0xff
	}
	name := filepath.Join(t.TempDir(), "damaged.parquet")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var first []string
	for _, size := range []int64{1, 3000, 1 << 30} {
		reading := Reading{SkipCorrupt: true, MaxRecordBytes: maxRecord}
		for column := range 13 {
			reading.TextColumns = append(reading.TextColumns[:0], "label")
			reading.LabelColumn = []string{"text", "title", "small", "unsigned", "real", "double", "flag", "price", "day", "time", "zoned", "fixed", "text"}[column]
		}
		files, err := List(t.Context(), []string{name}, reading)
		if err != nil {
			t.Fatal(err)
		}
		ranges, err := Split(t.Context(), files[0], size, reading)
		if err != nil {
			t.Fatal(err)
		}
		var records []string
		for _, r := range ranges {
			reader, err := Open(t.Context(), r, Options{Reading: reading})
			if err != nil {
				t.Fatal(err)
			}
			var d Document
			for reader.Next(&d) {
				records = append(records, showDocument(d))
			}
			_ = reader.Close() // in one of them
		}
		if first == nil {
			first = records
		}
		if !slices.Equal(records, first) {
			t.Errorf("ranges of %d bytes: %q, want %q", size, records, first)
		}
	}
}

func FuzzParquet(f *testing.F) {
	for _, name := range parquetFiles(f) {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "label", "text")
		f.Add(b, "price", "double")
		f.Add(b, "zoned", "flag")
	}
	name := filepath.Join(f.TempDir(), "fuzzed.parquet")
	f.Fuzz(func(t *testing.T, b []byte, label, text string) {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		checkRead(t, name, "", Reading{Format: "parquet", LabelColumn: label, TextColumns: []string{text}})
		checkRead(t, name, "", Reading{Format: "matrix", LabelColumn: label})
	})
}
