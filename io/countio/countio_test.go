package countio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/feature"
)

func writeRows(t testing.TB, dir string, rows []Row) FileSum {
	t.Helper()
	w, err := CreatePart(t.Context(), dir, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return sum
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
		err = ReadTable(t.Context(), filepath.Join(dir, sum.Name), func(r *Row) error {
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
	w, err := CreatePart(t.Context(), dir, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range someRows(3000) {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
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
	} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		err := ReadTable(t.Context(), name, func(*Row) error { return nil })
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
	if err := ReadTable(t.Context(), name, func(*other) error { return nil }); err == nil || !strings.Contains(err.Error(), `no column "word"`) {
		t.Error(err)
	}
}

func own(t *testing.T, name string) string {
	t.Helper()
	out := ""
	o, err := ReadOwn(t.Context(), name, func(_ []string, name []byte, counts []float64) error {
		out += fmt.Sprintf("%s%v ", name, counts)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprint(o.Classes, " ", out)
}

func TestOwnTables(t *testing.T) {
	const want = `[Hamilton Madison] upon[374 7] while[36 0] "[0.5 1e+06] zero[0 0] `
	for _, text := range []string{
		"feature,Hamilton,Madison\nupon,374,7\nwhile,36,0\n\"\"\"\",.5,1e6\nzero,0,0\n",
		"\ufeffHamilton,feature,Madison\r\n374,upon,7\r\n36,while,0\r\n 0.5 ,\"\"\"\",1000000\r\n\r\n0,zero,0",
		"feature\tHamilton\tMadison\nupon\t374\t7\nwhile\t36\t0\n\"\t0.5\t1e6\n\nzero\t0\t0\n",
	} {
		name := filepath.Join(t.TempDir(), "counts")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := own(t, name); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
	type row struct {
		Hamilton float64 `parquet:"Hamilton,optional"`
		Feature  string  `parquet:"feature"`
		Madison  int32   `parquet:"Madison"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{374, "upon", 7}, {36, "while", 0}, {0.5, `"`, 1e6}}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := own(t, name); got != strings.Replace(want, "zero[0 0] ", "", 1) {
		t.Errorf("Parquet: %s", got)
	}
}

func TestOwnTablesThatAreRefused(t *testing.T) {
	type decimal struct {
		Feature string `parquet:"feature"`
		A       int64  `parquet:"a,decimal(2:18)"`
	}
	type nested struct {
		Feature string `parquet:"feature"`
		A       struct {
			B int64 `parquet:"b"`
		} `parquet:"a"`
	}
	type list struct {
		Feature string  `parquet:"feature"`
		A       []int64 `parquet:"a"`
	}
	type null struct {
		Feature string `parquet:"feature"`
		A       *int64 `parquet:"a"`
	}
	table := func(write func(b *bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		"":                                   "empty",
		"feature,a,b\nx,1,-2\n":              `row 1: the count of "x" in class b is -2`,
		"feature,a,b\nw,1,1\nx,NaN,2\n":      `row 2: the count of "x" in class a is NaN`,
		"feature,a,b\nx,1,Inf\n":             `row 1: the count of "x" in class b is +Inf`,
		"feature,a,b\nx,1,1e999\n":           "not a number",
		"feature,a,b\nx,1,two\n":             `row 1: the count of "x" in class b is "two", not a number`,
		"feature,a,b\nx,1,\n":                "not a number",
		"feature,a,b\nx,1,2\ny,1,2\nx,3,4\n": `row 3: the feature "x" stands in row 1 already`,
		"feature,a,b\n,1,2\n":                "row 1: the feature is empty",
		"feature,a,b\nx,1\n":                 "row 1: has 2 fields, the header 3",
		"feature,a,b\n\"x,1,2\n":             "row 1:",
		"word,a,b\nx,1,2\n":                  "no column is named feature; found: word, a, b",
		"feature,a,a\nx,1,2\n":               "two columns are named a",
		"feature,feature,a\nx,1,2\n":         "two columns are named feature",
		"feature,,a\nx,1,2\n":                "column 2 has no name",
		"feature\nx\n":                       "no column of counts",
		"PAR1 is how a Parquet file starts":  "not a readable Parquet file",
		table(func(b *bytes.Buffer) error { return parquet.Write(b, []decimal{{"x", 100}}) }):             "cast it to BIGINT or DOUBLE",
		table(func(b *bytes.Buffer) error { return parquet.Write(b, []nested{{Feature: "x"}}) }):          "nested",
		table(func(b *bytes.Buffer) error { return parquet.Write(b, []list{{"x", []int64{1, 2}}}) }):      "repeated",
		table(func(b *bytes.Buffer) error { return parquet.Write(b, []null{{Feature: "x", A: nil}}) }):    "not a number",
		table(func(b *bytes.Buffer) error { return parquet.Write(b, []Row{{Feature: "x", Class: "a"}}) }): "the column class is a STRING",
	} {
		name := filepath.Join(t.TempDir(), "counts")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := CheckOwn(t.Context(), name)
		var bad *Error
		if !errors.As(err, &bad) || bad.File != name || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v\nwant %s", text, err, want)
		}
	}
	if _, err := CheckOwn(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file is accepted")
	}
}

func FuzzOwn(f *testing.F) {
	f.Add([]byte("feature,a,b\nupon,374,7\n"))
	f.Add([]byte("feature\ta\n\"\t1\n"))
	var b bytes.Buffer
	if err := parquet.Write(&b, someRows(3)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		name := filepath.Join(t.TempDir(), "counts")
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := CheckOwn(context.Background(), name)
		var bad *Error
		if err != nil && !errors.As(err, &bad) {
			t.Error(err)
		}
	})
}
