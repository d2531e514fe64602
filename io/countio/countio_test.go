package countio

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/tableio"
)

func writeRows(t testing.TB, dir string, rows []Row) tableio.FileSum {
	t.Helper()
	w, err := CreatePart(t.Context(), dir, 0, 1, []string{"class0", "class1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	addRows(t, w, rows)
	sum, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// addRows adds rows of classes class0 and class1.
func addRows(t testing.TB, w *PartWriter, rows []Row) {
	t.Helper()
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Feature == rows[0].Feature {
			n++
		}
		var counts []feature.Count
		for _, r := range rows[:n] {
			counts = append(counts, feature.Count{Class: int(r.Class[5] - '0'), Occurrences: r.Count, Documents: r.Documents})
		}
		if err := w.Add([]byte(rows[0].Feature), rows[0].FeatureID, counts); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
}

func someRows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		name := fmt.Sprint("word", i/2)
		key, _ := feature.Hash([]byte(name))
		rows[i] = Row{name, feature.ID(key), fmt.Sprint("class", i%2), int64(i + 1), int64(i/3 + 1)}
	}
	return rows
}

func TestPartsAreReadAsTheyWereWritten(t *testing.T) {
	for _, n := range []int{0, 1, 5000} {
		dir := t.TempDir()
		rows := someRows(n)
		sum := writeRows(t, dir, rows)
		b, err := os.ReadFile(filepath.Join(dir, sum.Name))
		if err != nil || int64(len(b)) != sum.Size || sum.Rows != int64(n) {
			t.Fatalf("%+v, but %d bytes, %v", sum, len(b), err)
		}
		i := 0
		err = tableio.Read(t.Context(), filepath.Join(dir, sum.Name), func(r *Row) error {
			if *r != rows[i] {
				return fmt.Errorf("row %d is %+v, was %+v", i, *r, rows[i])
			}
			i++
			return nil
		})
		if err != nil || i != n {
			t.Errorf("%d of %d rows read, %v", i, n, err)
		}
		again := t.TempDir()
		if sum2 := writeRows(t, again, rows); sum2 != sum {
			t.Errorf("written again: %+v, was %+v", sum2, sum)
		}
	}
}

func TestNothingIsLeftOfAPartThatWasGivenUp(t *testing.T) {
	dir := t.TempDir()
	w, err := CreatePart(t.Context(), dir, 0, 1, []string{"class0", "class1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	addRows(t, w, someRows(3000))
	w.Abort()
	if left, _ := filepath.Glob(dir + "/counts/*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestDamagedPartsAreErrors(t *testing.T) {
	dir := t.TempDir()
	sum := writeRows(t, dir, someRows(5000))
	name := filepath.Join(dir, sum.Name)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"cut":    whole[:len(whole)-100],
		"empty":  nil,
		"text":   []byte("feature,a,b\nupon,1,2\n"),
		"zeroed": append(make([]byte, 200), whole[200:]...),
		"footer": append(slices.Clone(whole[:len(whole)-5]), []byte("\x7fPAR1")...), // a length of 2 GB
	} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		err := tableio.Read(t.Context(), name, func(*Row) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	type other struct {
		Word string `parquet:"word"`
	}
	if err := os.WriteFile(name, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := tableio.Read(t.Context(), name, func(*other) error { return nil }); err == nil || !strings.Contains(err.Error(), `column "word" is missing`) {
		t.Error(err)
	}
}
