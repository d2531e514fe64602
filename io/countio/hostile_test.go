package countio

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/hostile"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// harmless checks that reading a file returns rows or an error of one line with its name, in little memory.
func harmless(t *testing.T, what, name string, content []byte, read func() error) (err error) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	if n := hostile.Allocated(func() { err = read() }); n > hostile.MostMemory {
		t.Errorf("%s: %d MB were taken", what, n>>20)
	}
	if err != nil && (!strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "\n")) {
		t.Errorf("%s: %v", what, err)
	}
	return err
}

// Files with false lengths are refused wherever Parquet is read.
func TestHostileParquet(t *testing.T) {
	name := filepath.Join(t.TempDir(), "table")
	type row struct {
		Feature string `parquet:"feature"`
		A       int64  `parquet:"a"`
	}
	for what, b := range hostile.Files() {
		for kind, read := range map[string]func() error{
			"own": func() error {
				_, err := ValidateTable(t.Context(), name, Constraints{})
				return err
			},
			"table": func() error { return tableio.Read(t.Context(), name, func(*row) error { return nil }) },
		} {
			if err := harmless(t, kind+", "+what, name, b, read); err == nil && what != "a number of rows" {
				t.Errorf("%s, %s: no error", kind, what)
			}
		}
	}
}

// A part or a custom table with a changed byte: an error with the file, or other values.
func TestEveryByteChanged(t *testing.T) {
	dir := t.TempDir()
	part := filepath.Join(dir, writeRows(t, dir, narrowRows(9, 64)).Name)
	shared := filepath.Join(dir, "old")
	os.Rename(filepath.Join(dir, writeOld(t, dir, narrowRows(9, 2), 100)), shared)
	type wide struct {
		Feature string   `parquet:"feature"`
		A       *float64 `parquet:"a,optional,dict"`
		B       int64    `parquet:"b"`
	}
	x := 2.5
	table := filepath.Join(dir, "table")
	if err := os.WriteFile(table, []byte(parquetOf(t, []wide{{"x", &x, 1}, {"y", nil, 3}, {"z", &x, 0}})), 0o666); err != nil {
		t.Fatal(err)
	}
	names := func(*Feature) error { return nil }
	for name, read := range map[string]func(ctx context.Context) error{
		part: func(ctx context.Context) error {
			return Source{Dir: dir}.Each(ctx, strings.TrimPrefix(part, dir+"/"), &Classes{}, func(f *Feature) error { _, err := f.Name(); return err })
		},
		shared: func(ctx context.Context) error { return Source{Dir: dir}.Each(ctx, "old", &Classes{}, names) },
		table: func(ctx context.Context) error {
			_, err := ValidateTable(ctx, table, Constraints{})
			return err
		},
	} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		step := 1
		if testing.Short() {
			step = 7
		}
		for i := 0; i < len(b); i += step {
			for _, flip := range []byte{1, 0x80} {
				b[i] ^= flip
				_ = harmless(t, fmt.Sprintf("byte %d by %d", i, flip), name, b, func() error { return read(t.Context()) })
				b[i] ^= flip
			}
		}
	}
}

// A few bytes of Parquet may encode any number of equal rows.
func TestRowsWithoutEnd(t *testing.T) {
	type wide struct {
		Feature string `parquet:"feature,dict"`
		A       int64  `parquet:"a,dict"`
	}
	name := write(t, parquetOf(t, slices.Repeat([]wide{{"x", 1}}, 100_000)))
	type large struct {
		Feature string     `parquet:"feature"`
		Rest    [4096]byte `parquet:"-"`
	}
	rows := 0
	err := tableio.Read(t.Context(), name, func(*large) error { rows++; return nil })
	if err == nil || !strings.Contains(err.Error(), name+": not a readable Parquet file: it has more than 65") || rows > 66_000 {
		t.Errorf("%v after %d rows", err, rows)
	}
	err = fileio.With(t.Context(), name, func(f fileio.File, info fileio.Info) error {
		r, err := openParquet(f, info)
		if err != nil {
			return err
		}
		r.read = 1 << 24
		return r.next()
	})
	if err == nil || !strings.Contains(err.Error(), "it has more than 16777216 rows in") {
		t.Error(err)
	}
}

// A text without line ends, or with none outside quotes, is not read into memory.
func TestRowsOfText(t *testing.T) {
	for what, c := range map[string]struct {
		head string
		fill byte
		want string
	}{
		"CSV without line ends":      {"feature,a,b", 'x', "the row is longer than 16 MiB, up to byte 17825792 of the file; probably a quote is not closed, or line ends are missing"},
		"a row of CSV":               {"feature,a,b\n", 'x', "row 1: the row is longer than 16 MiB, up to byte"},
		"a quote that is not closed": {"feature,a,b\n\"", '\n', "row 1: the row is longer than 16 MiB, up to byte"},
		"TSV without line ends":      {"feature\ta\tb", 'x', "the row is longer than 16 MiB"},
		"a row of TSV":               {"feature\ta\tb\nx\t1\t2\n", 'x', "row 2: the row is longer than 16 MiB, up to byte"},
		"no bytes but zeros":         {"\x00", 0, "the row is longer than 16 MiB"},
	} {
		name := filepath.Join(t.TempDir(), "counts")
		content := append([]byte(c.head), bytes.Repeat([]byte{c.fill}, 20<<20)...)
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
		var err error
		n := hostile.Allocated(func() { _, err = ValidateTable(t.Context(), name, Constraints{}) })
		if err == nil || !strings.Contains(err.Error(), name+": "+c.want) {
			t.Errorf("%s: %.200v", what, err)
		}
		if n > 12*maxRecord { // lists that grow are copied
			t.Errorf("%s: %d MB were taken", what, n>>20)
		}
	}
	for _, text := range []string{"feature,a,b\rupon,1,2\r", "feature\ta\tb\rupon\t1\t2\r", "feature,a,b\r"} {
		refused(t, text, Constraints{}, "the lines end with a carriage return only; convert the file with: tr")
	}
	if _, err := ValidateTable(t.Context(), write(t, "feature,a,b\r\n\"x\ry\",1,2\r\n"), Constraints{}); err != nil { // within a cell
		t.Error(err)
	}
	var many strings.Builder // all rows together are longer than one may be
	many.WriteString("feature,a\n")
	for i := range 600_000 {
		fmt.Fprintf(&many, "%d%s,1\n", i, strings.Repeat("x", 25))
	}
	for _, text := range []string{many.String(), strings.ReplaceAll(many.String(), ",", "\t")} {
		if len(text) < maxRecord {
			t.Fatal(len(text))
		}
		if _, err := ValidateTable(t.Context(), write(t, text), Constraints{}); err != nil {
			t.Error(err)
		}
	}
}
