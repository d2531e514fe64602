package tableio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/io/fileio"
)

type row struct {
	Word string `parquet:"word"`
	N    int64  `parquet:"n"`
}

func writeTable(t *testing.T, dir string, n int64) (FileSum, error) {
	t.Helper()
	w, err := Create[row](t.Context(), dir, "t.parquet", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i := range n {
		if err := w.Write(row{"x", i}); err != nil {
			t.Fatal(err)
		}
	}
	return w.Commit()
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	sum, err := writeTable(t, dir, 1000)
	if err != nil || sum.Rows != 1000 {
		t.Fatal(sum, err)
	}
	name := filepath.Join(dir, "t.parquet")
	found, err := Checksum(t.Context(), name)
	if err != nil || found.SHA256 != sum.SHA256 || found.Size != sum.Size {
		t.Errorf("%+v, %v; wrote %+v", found, err, sum)
	}
	if again, err := writeTable(t, dir, 1000); err != nil || again != sum {
		t.Errorf("the same table: %+v, %v", again, err)
	}
	if _, err := writeTable(t, dir, 999); !errors.Is(err, fileio.ErrTaken) || !strings.HasPrefix(err.Error(), name+": exists with different content") {
		t.Errorf("another table: %v", err)
	}
	if unchanged, err := Checksum(t.Context(), name); err != nil || unchanged != found {
		t.Errorf("the file was replaced: %+v, %v", unchanged, err)
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{
		"": "", "1": "", "2": "", "3": "",
		"4":  "written by a newer version of sparsenb (table format 4); upgrade sparsenb",
		"12": "written by a newer version of sparsenb (table format 12); upgrade sparsenb",
		"0":  `unknown table format "0"`,
		"x":  `unknown table format "x"`,
	} {
		name := filepath.Join(t.TempDir(), "t.parquet")
		var b strings.Builder
		w := parquet.NewGenericWriter[row](&b, parquet.KeyValueMetadata(versionKey, version))
		if _, err := w.Write([]row{{"x", 1}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		rows := 0
		err := Read(t.Context(), name, func(*row) error { rows++; return nil })
		_, err2 := Metadata(t.Context(), name, versionKey)
		if want == "" && (err != nil || err2 != nil || rows != 1) {
			t.Errorf("version %q: %v, %v, %d rows", version, err, err2, rows)
		}
		if want != "" && (err == nil || err.Error() != name+": "+want || err2 == nil || !errors.As(err, new(*VersionError))) {
			t.Errorf("version %q: %v, %v", version, err, err2)
		}
	}
}
