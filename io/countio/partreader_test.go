package countio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// narrowRows are rows of features; with few bits, many share an id. Some have counts in two classes.
func narrowRows(n, bits int) []Row {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(bits)))
	var rows []Row
	for i := range n {
		name := fmt.Sprint("word ", i)
		key, _ := feature.Hash([]byte(name))
		id := feature.ID(key >> (64 - bits) << (64 - bits))
		first := rng.IntN(3)
		for class := range 2 {
			if first == 2 || first == class {
				rows = append(rows, Row{name, id, fmt.Sprint("class", class), rng.Int64N(5) + 2, rng.Int64N(2) + 1})
			}
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.FeatureID, b.FeatureID), strings.Compare(a.Feature, b.Feature), strings.Compare(a.Class, b.Class))
	})
	return rows
}

// readRows returns the rows of a part from its features. It asks every step-th feature for its name.
func readRows(t testing.TB, dir, name string, step int) (rows []Row, features int) {
	t.Helper()
	var classes Classes
	err := Source{Dir: dir}.Each(t.Context(), name, &classes, func(f *Feature) error {
		var name []byte
		if features++; features%step == 0 {
			var err error
			if name, err = f.Name(); err != nil {
				return err
			}
			if again, err := f.Name(); err != nil || string(again) != string(name) {
				return fmt.Errorf("%q is %q, %v", name, again, err)
			}
		}
		for i, class := range f.Classes {
			rows = append(rows, Row{string(name), f.ID, classes.Labels[class], int64(f.Occurrences[i]), int64(f.Documents[i])})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, features
}

// writeOld writes a part without the metadata about its ids, as older versions did.
func writeOld(t testing.TB, dir string, rows []Row, rowsPerGroup int64) string {
	t.Helper()
	type oldRow struct {
		Feature   string `parquet:"feature"`
		FeatureID int64  `parquet:"feature_id"`
		Class     string `parquet:"class,dict"`
		Count     int64  `parquet:"count,dict"`
		Documents int64  `parquet:"documents,dict"`
	}
	var b strings.Builder
	w := parquet.NewGenericWriter[oldRow](&b, append(tableio.WriterOptions(), parquet.MaxRowsPerRowGroup(rowsPerGroup))...)
	for _, r := range rows {
		if _, err := w.Write([]oldRow{oldRow(r)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := "old.parquet"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// Features are distinguished and named correctly with and without colliding ids, in new and old files, and whether all
// names are requested or a few.
func TestFeaturesOfParts(t *testing.T) {
	for _, bits := range []int{2, 12, 64} {
		rows := narrowRows(30_000, bits)
		dir := t.TempDir()
		files := map[string]string{"new": writeRows(t, dir, rows).Name, "old": writeOld(t, dir, rows, 1001)}
		for what, name := range files {
			for _, step := range []int{1, 7, 10_000} {
				got, features := readRows(t, dir, name, step)
				if features != 30_000 || len(got) != len(rows) {
					t.Fatalf("%d bits, %s: %d features, %d rows", bits, what, features, len(got))
				}
				for i, r := range got {
					want := rows[i]
					if r.Feature == "" {
						want.Feature = ""
					}
					if r != want {
						t.Fatalf("%d bits, %s, every %d: row %d is %+v, want %+v", bits, what, step, i, r, want)
					}
				}
			}
		}
	}
}

// The metadata of a part says whether its ids are unique.
func TestPartsNoteSharedIDs(t *testing.T) {
	for bits, want := range map[int]string{2: "false", 64: "true"} {
		dir := t.TempDir()
		sum := writeRows(t, dir, narrowRows(1000, bits))
		f, err := os.Open(filepath.Join(dir, sum.Name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		file, err := parquet.OpenFile(f, sum.Size)
		if err != nil {
			t.Fatal(err)
		}
		if note, _ := file.Lookup(uniqueIDs); note != want {
			t.Errorf("%d bits: %s", bits, note)
		}
	}
}

// The result does not depend on how rows were divided into batches and row groups.
func TestNamesOfAnyLength(t *testing.T) {
	var rows []Row
	for i := range 2000 {
		name := fmt.Sprint(i, strings.Repeat("x", i*i%70_000%(1+i%3*30_000)))
		for class := range 1 + i%2 {
			rows = append(rows, Row{name, int64(i), fmt.Sprint("class", class), 1, 1})
		}
	}
	dir := t.TempDir()
	got, _ := readRows(t, dir, writeRows(t, dir, rows).Name, 1)
	if !slices.Equal(got, rows) {
		t.Error("other rows")
	}
}

// An invalid row is an error of one line with its position; a panic of the visitor is passed on.
func TestImpossibleParts(t *testing.T) {
	for want, change := range map[string]func(rows []Row){
		`old.parquet: feature "word1" has 4 occurrences in 5 documents of class class0`: func(rows []Row) { rows[2].Count, rows[2].Documents = 4, 5 },
		`old.parquet: feature "word1" has 0 occurrences in 1 documents of class class0`: func(rows []Row) { rows[2].Count = 0 },
		`are not sorted`: func(rows []Row) { rows[3].Class = "class0" },
	} {
		dir := t.TempDir()
		rows := someRows(6)
		for i := range rows {
			rows[i].Documents = 1
		}
		change(rows)
		var classes Classes
		err := Source{Dir: dir}.Each(t.Context(), writeOld(t, dir, rows, 100), &classes, func(*Feature) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want %s", err, want)
		}
	}
	dir := t.TempDir()
	sum := writeRows(t, dir, someRows(6))
	var classes Classes
	wrong := errors.New("wrong")
	if err := (Source{Dir: dir}).Each(t.Context(), sum.Name, &classes, func(*Feature) error { return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	defer func() {
		if p := recover(); p != "of the visitor" {
			t.Errorf("the panic was %v", p)
		}
	}()
	t.Error(Source{Dir: dir}.Each(t.Context(), sum.Name, &classes, func(*Feature) error { panic("of the visitor") }))
}

// OpenSorted gives parts and custom tables the same order, whatever the layout, so that they can be merged.
func TestSortedSources(t *testing.T) {
	dir := t.TempDir()
	rows := narrowRows(500, 64)
	sources := []Source{{Dir: dir}}
	part := writeRows(t, dir, rows).Name
	head := "feature,class0,class1\n"
	long, wide := "feature,class,count\n", map[string][2]int64{}
	for i := range rows {
		r := rows[(i*7+3)%len(rows)]
		long += fmt.Sprintf("%s,%s,%d\n", r.Feature, r.Class, r.Count)
		counts := wide[r.Feature]
		counts[r.Class[5]-'0'] = r.Count
		wide[r.Feature] = counts
	}
	for name, counts := range wide {
		head += fmt.Sprintf("%s,%d,%d\n", name, counts[0], counts[1])
	}
	sources = append(sources, Source{Table: write(t, long)}, Source{Table: write(t, head)})
	var want []string
	for i, s := range sources {
		classes := ClassesOf([]string{"class0", "class1"})
		r, err := s.OpenSorted(t.Context(), part, classes)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			f, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			name, err := f.Name()
			if err != nil {
				t.Fatal(err)
			}
			for j, class := range f.Classes {
				if f.Occurrences[j] > 0 {
					got = append(got, fmt.Sprint(f.ID, string(name), class, f.Occurrences[j]))
				}
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("source %d: after the end: %v", i, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if i == 0 {
			want = got
		}
		if !slices.Equal(got, want) || len(got) != len(rows) {
			t.Errorf("source %d: %d counts, want %d", i, len(got), len(rows))
		}
	}
}

// Parts of a newer format are refused, as damaged ones are: without a retry.
func TestNewerParts(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	w := parquet.NewGenericWriter[Row](&b, parquet.KeyValueMetadata("sparsenb.format_version", "4"))
	if _, err := w.Write(someRows(2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "part")
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	want := name + ": written by a newer version of sparsenb (table format 4); upgrade sparsenb"
	err := Source{Dir: dir}.Each(t.Context(), "part", &Classes{}, func(*Feature) error { return nil })
	if !errors.As(err, new(*DamagedError)) || err.Error() != want {
		t.Error(err)
	}
	if _, err := ValidateTable(t.Context(), name, Constraints{}); !errors.As(err, new(*TableError)) || err.Error() != want {
		t.Error(err)
	}
}

// A damaged part is an error or reads like some part; it never panics.
func FuzzPart(f *testing.F) {
	for _, bits := range []int{2, 64} {
		dir := f.TempDir()
		for _, name := range []string{writeRows(f, dir, narrowRows(40, bits)).Name, writeOld(f, dir, narrowRows(40, bits), 30)} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "part"), b, 0o666); err != nil {
			t.Fatal(err)
		}
		var classes Classes
		err := Source{Dir: dir}.Each(t.Context(), "part", &classes, func(f *Feature) error {
			_, err := f.Name()
			return err
		})
		if err != nil && !strings.Contains(err.Error(), "part") {
			t.Error(err)
		}
	})
}
