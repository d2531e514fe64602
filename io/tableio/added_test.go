package tableio

import (
	"path/filepath"
	"testing"
)

type extended struct {
	Word  string  `parquet:"word"`
	Added string  `parquet:"added,dict"`
	N     int64   `parquet:"n"`
	Later float64 `parquet:"later"`
}

func (extended) AddedColumns() []string { return []string{"added", "later"} }

// Files that were written before a column was added are read.
func TestAddedColumnsMayBeMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := writeTable(t, dir, 3000); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	err := Read(t.Context(), filepath.Join(dir, "t.parquet"), func(r *extended) error {
		if *r != (extended{Word: "x", N: n}) {
			t.Fatalf("row %d: %+v", n, *r)
		}
		n++
		return nil
	})
	if err != nil || n != 3000 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// Other columns may not be missing.
func TestMissingColumns(t *testing.T) {
	type other struct {
		Word    string `parquet:"word"`
		Missing string `parquet:"missing"`
	}
	dir := t.TempDir()
	if _, err := writeTable(t, dir, 1); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "t.parquet")
	if err := Read(t.Context(), name, func(*other) error { return nil }); err == nil || err.Error() != name+`: not a readable Parquet file: column "missing" is missing` {
		t.Error(err)
	}
}
