package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// column summarizes the values that a reader found in a column.
type column struct {
	Kinds []string
	Sum   number64
	Ends  []string
}

// number64 is a number that is text in JSON, because it may be infinite.
type number64 float64

func (n *number64) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*n = number64(f)
	return err
}

// add adds a value, as testdata/readers/read.py does.
func (c *column) add(kind string, number float64, text string) {
	if !slices.Contains(c.Kinds, kind) {
		c.Kinds = append(c.Kinds, kind)
	}
	c.Sum += number64(number)
	if len(c.Ends) == 0 {
		c.Ends = []string{text, text}
	}
	c.Ends[1] = text
}

// Other Parquet readers read the same values from every file.
func TestReaders(t *testing.T) {
	python := outside.Python(t)
	dir := filepath.Join(t.TempDir(), "out")
	d := documents(t, federalist)
	d.Shards = 3
	if err := runTrain(t, dir, d, choose(t, "Hamilton", "1", "10", "1%")); err != nil {
		t.Fatal(err)
	}
	checkReaders(t, python, dir)

	// Buckets add a file.
	d.HashBits = 8
	dir = filepath.Join(t.TempDir(), "out")
	if err := runTrain(t, dir, d, choose(t, "Hamilton", "10")); err != nil {
		t.Fatal(err)
	}
	checkReaders(t, python, dir)

	// Counts without documents have nulls in the model, and without smoothing some weights are infinite.
	table := save(t, "counts.csv", "feature,Hamilton,Madison\n\"quoted, \"\"word\"\"\",374,0\nété,1,12\nthe,10289.5,4066\n")
	sel := choose(t, "Hamilton", "3")
	sel.Smoothing = []float64{0}
	dir = filepath.Join(t.TempDir(), "out")
	if err := runSelect(t, dir, table, nil, sel); err != nil {
		t.Fatal(err)
	}
	checkReaders(t, python, dir)
}

func checkReaders(t *testing.T, python, dir string) {
	t.Helper()
	cmd := exec.Command(python, "../testdata/readers/read.py", dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var found map[string]map[string]map[string]json.RawMessage
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	for _, f := range read(t, dir).Manifest.Files {
		want := expectedColumns(t, dir, f.Name)
		for _, reader := range []string{"pandas", "duckdb", "polars"} {
			got, ok := found[f.Name][reader]
			if !ok {
				t.Errorf("%s did not read %s", reader, f.Name)
				continue
			}
			var rows int64
			if err := json.Unmarshal(got["rows"], &rows); err != nil || rows != f.Rows {
				t.Errorf("%s, %s: %d rows, %v; want %d", f.Name, reader, rows, err, f.Rows)
			}
			for name, w := range want {
				var c column
				if err := json.Unmarshal(got[name], &c); err != nil {
					t.Errorf("%s, %s, column %s: %v", f.Name, reader, name, err)
					continue
				}
				sameSum := c.Sum == w.Sum || math.Abs(float64(c.Sum-w.Sum)) <= 1e-9*math.Abs(float64(w.Sum))
				if !slices.Equal(c.Kinds, w.Kinds) || !sameSum || len(c.Ends) > 0 && !slices.Equal(c.Ends, w.Ends) {
					t.Errorf("%s, %s, column %s: %+v, want %+v", f.Name, reader, name, c, *w)
				}
			}
		}
	}
}

// expectedColumns reads a file with the types of modelio.
func expectedColumns(t *testing.T, dir, file string) map[string]*column {
	t.Helper()
	want := map[string]*column{}
	name := filepath.Join(dir, file)
	var err error
	switch file {
	case modelio.FeaturesFile:
		err = tableio.Read(t.Context(), name, func(r *modelio.FeatureRow) error { return see(want, *r) })
	case modelio.ModelFile:
		err = tableio.Read(t.Context(), name, func(r *modelio.ModelRow) error { return see(want, *r) })
	case modelio.PathFile:
		err = tableio.Read(t.Context(), name, func(r *modelio.PathRow) error { return see(want, *r) })
	case modelio.BucketsFile:
		err = tableio.Read(t.Context(), name, func(r *modelio.BucketRow) error { return see(want, *r) })
	default:
		err = tableio.Read(t.Context(), name, func(r *countio.Row) error { return see(want, *r) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// see adds the fields of a row to their columns.
func see(want map[string]*column, row any) error {
	v := reflect.ValueOf(row)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		c := want[name]
		if c == nil {
			c = &column{}
			want[name] = c
		}
		switch f := v.Field(i).Interface().(type) {
		case string:
			c.add("str", 0, f)
		case int64:
			if name == "feature_id" { // a sum of them says nothing
				c.add("int", 0, strconv.FormatInt(f, 10))
			} else {
				c.add("int", float64(f), "")
			}
		case *int64:
			if f != nil {
				c.add("int", float64(*f), "")
			}
		case float64:
			c.add("float", f, "")
		default:
			return fmt.Errorf("column %s is a %T", name, f)
		}
	}
	return nil
}
