package countio

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/internal/outside"
)

// place is a feature and a class.
type place struct{ feature, class string }

// contents are the counts and the documents of a table other than zeros, by feature and class.
func contents(t testing.TB, name string) map[place][2]float64 {
	t.Helper()
	found, features := map[place][2]float64{}, map[string]bool{}
	var classes Classes
	err := Source{Table: name}.Each(t.Context(), "", &classes, func(f *Feature) error {
		b, err := f.Name()
		if err != nil {
			return err
		}
		name := string(b)
		if key, _ := feature.Hash(b); f.ID != feature.ID(key) || features[name] {
			return fmt.Errorf("%q has the id %d, or comes twice", name, f.ID)
		}
		features[name] = true
		for i, class := range f.Classes {
			if at := (place{name, classes.Labels[class]}); f.Occurrences[i] != 0 || f.Documents[i] != 0 {
				found[at] = [2]float64{f.Occurrences[i], f.Documents[i]}
			}
		}
		if len(f.Classes) == 0 {
			return fmt.Errorf("%q has no class", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

func write(t testing.TB, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func parquetOf[T any](t testing.TB, rows []T) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// parquetWith writes columns in any order, with the given types.
func parquetWith(t testing.TB, nodes map[string]parquet.Node, rows ...map[string]any) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[map[string]any](&b, parquet.NewSchema("counts", parquet.Group(nodes)))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The same counts in every layout and format.
func TestCustomTables(t *testing.T) {
	type wide struct {
		Hamilton float64 `parquet:"Hamilton,optional"`
		Feature  string  `parquet:"feature"`
		Madison  int32   `parquet:"Madison"`
	}
	type long struct {
		Count   float32 `parquet:"count"`
		Feature string  `parquet:"feature,optional,dict"`
		Class   string  `parquet:"class,dict"`
	}
	want := map[place][2]float64{
		{"upon", "Hamilton"}: {374, 374}, {"upon", "Madison"}: {7, 7}, {"while", "Hamilton"}: {36, 36},
		{`"`, "Hamilton"}: {0.5, 0.5}, {`"`, "Madison"}: {1e6, 1e6},
	}
	for what, content := range map[string]string{
		"wide CSV": "feature,Hamilton,Madison\nupon,374,7\nwhile,36,0\n\"\"\"\",.5,1e6\nzero,0,-0\n",
		"wide CSV of Windows, columns in another order": "\ufeff Hamilton ,feature, Madison\r\n374,upon,7\r\n36,while,0\r\n 0.5 ,\"\"\"\",1000000\r\n\r\n0,zero,0",
		"wide TSV":     "feature\tHamilton\tMadison\nupon\t374\t7\nwhile\t36\t0\n\"\t0.5\t1e6\n\nzero\t0\t0\n",
		"wide Parquet": parquetOf(t, []wide{{374, "upon", 7}, {36, "while", 0}, {0.5, `"`, 1e6}}), // the writer makes a zero a null
		"long CSV":     "feature,class,count\nupon,Hamilton,374\nwhile,Hamilton,36\nzero,Madison,0\n\"\"\"\",Hamilton,.5\nupon,Madison,7\n\"\"\"\",Madison,1e6\n",
		"long CSV of Windows, columns in another order": "\ufeffclass,count,feature\r\nMadison,7,upon\r\n\r\n Madison ,1e6,\"\"\"\"\r\nHamilton, 374 ,upon\r\nHamilton,.5,\"\"\"\"\r\nHamilton,36,while\r\nMadison,0,zero",
		"long TSV": "feature\tfeature_id\tclass\tcount\n\"\tx\tMadison\t1000000\n\"\t\tHamilton\t0.5\nwhile\t\tHamilton\t36\nwhile\t\tMadison\t0\nupon\t\tMadison\t7\nzero\t\tHamilton\t0\nupon\t1\tHamilton\t374\n",
		"long Parquet": parquetOf(t, []long{
			{1e6, `"`, "Madison"}, {0.5, `"`, "Hamilton"}, {7, "upon", "Madison"}, {36, "while", "Hamilton"}, {374, "upon", "Hamilton"}, {0, "zero", "Madison"},
		}),
	} {
		name := write(t, content)
		o, err := ValidateTable(t.Context(), name, Constraints{})
		if err != nil || !slices.Equal(o.Classes, []string{"Hamilton", "Madison"}) {
			t.Errorf("%s: %v, classes %q", what, err, o.Classes)
			continue
		}
		if got := contents(t, name); !maps.Equal(got, want) {
			t.Errorf("%s: %v", what, got)
		}
		if tokens, documents := o.Sums.Of("Hamilton"); tokens != 410.5 || documents != 410.5 {
			t.Errorf("%s: %v and %v", what, tokens, documents)
		}
	}
}

func TestDocumentsOfALongTable(t *testing.T) {
	name := write(t, "documents,class,count,feature\n3,a,4.5,x\n0,b,0,x\n1,b,7,y\n")
	o, err := ValidateTable(t.Context(), name, Constraints{Documents: map[string]int64{"a": 3, "b": 1}, CountsAreDocuments: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(t, name), (map[place][2]float64{{"x", "a"}: {4.5, 3}, {"y", "b"}: {7, 1}}); !maps.Equal(got, want) {
		t.Error(got)
	}
	if tokens, documents := o.Sums.Of("a"); tokens != 4.5 || documents != 3 {
		t.Error(tokens, documents)
	}
}

// The counts of a run are a long table.
func TestPartsAreLongTables(t *testing.T) {
	dir := t.TempDir()
	rows := someRows(1000)
	name := filepath.Join(dir, writeRows(t, dir, rows).Name)
	if _, err := ValidateTable(t.Context(), name, Constraints{}); err != nil {
		t.Fatal(err)
	}
	want := map[place][2]float64{}
	for _, r := range rows {
		want[place{r.Feature, r.Class}] = [2]float64{float64(r.Count), float64(r.Documents)}
	}
	if got := contents(t, name); !maps.Equal(got, want) {
		t.Errorf("%d of %d", len(got), len(want))
	}
}

// Labels and features that are numbers become text; counts may have any numeric type.
func TestTypesOfParquet(t *testing.T) {
	row := map[string]any{"feature": int64(math.MaxInt64), "class": int32(-1), "count": uint32(math.MaxUint32), "documents": uint64(1 << 53)}
	for what, nodes := range map[string]map[string]parquet.Node{
		"required": {"feature": parquet.Leaf(parquet.Int64Type), "class": parquet.Int(8), "count": parquet.Uint(32), "documents": parquet.Uint(64)},
		"optional": {
			"feature": parquet.Optional(parquet.Leaf(parquet.Int64Type)), "class": parquet.Optional(parquet.Leaf(parquet.Int32Type)),
			"count": parquet.Optional(parquet.Uint(32)), "documents": parquet.Optional(parquet.Uint(64)),
		},
	} {
		name := write(t, parquetWith(t, nodes, row))
		if _, err := ValidateTable(t.Context(), name, Constraints{}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := contents(t, name); !maps.Equal(got, map[place][2]float64{{"9223372036854775807", "-1"}: {math.MaxUint32, 1 << 53}}) {
			t.Errorf("%s: %v", what, got)
		}
	}
	for _, count := range []parquet.Node{
		parquet.Leaf(parquet.Int32Type), parquet.Leaf(parquet.Int64Type), parquet.Leaf(parquet.FloatType), parquet.Leaf(parquet.DoubleType), parquet.Int(16),
	} {
		value := parquet.ValueOf(7).Int64()
		row := map[string]any{"feature": "x", "class": "a", "count": convert(count, value)}
		name := write(t, parquetWith(t, map[string]parquet.Node{"feature": parquet.String(), "class": parquet.Encoded(parquet.Enum(), &parquet.RLEDictionary), "count": count}, row))
		if got := contents(t, name); !maps.Equal(got, map[place][2]float64{{"x", "a"}: {7, 7}}) {
			t.Errorf("%s: %v", count, got)
		}
	}
}

func convert(node parquet.Node, n int64) any {
	switch node.Type().Kind() {
	case parquet.Int32:
		return int32(n)
	case parquet.Float:
		return float32(n)
	case parquet.Double:
		return float64(n)
	}
	return n
}

func TestTextTablesThatAreRefused(t *testing.T) {
	const wide, long = "feature,a,b\n", "feature,class,count\n"
	const hint = "(a table with one row for each feature and class has the columns feature, class, count, optionally documents and feature_id, and no others)"
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"\n\n", "the file is empty"},
		{"\xff\xfef\x00e\x00", "the text is UTF-16"},
		{"\x1f\x8b\x08\x00", "the table is compressed"},
		{"\x28\xb5\x2f\xfd", "the table is compressed"},
		{"PAR1 is how a Parquet file starts", "not a readable Parquet file"},
		{"word,a,b\nx,1,2\n", "no column is named feature; found: word, a, b"},
		{strings.Repeat("w,", 5) + "\n", "two columns are named w"},
		{"a,b,c,d,e,f,g,h,i,j,k,l\n", "found: a, b, c, d, e, f, g, h, i, j, and 2 more"},
		{"feature,a,a\nx,1,2\n", "two columns are named a"},
		{"feature,a, a\nx,1,2\n", "two columns are named a"},
		{"feature,feature,a\nx,1,2\n", "two columns are named feature"},
		{"feature,,a\nx,1,2\n", "the name of column 2 is empty"},
		{"feature,a,\"b\x00\"\nx,1,2\n", "the name of column 3 contains a NUL byte"},
		{"feature,a,caf\xe9\nx,1,2\n", "the name of column 3 is not valid UTF-8"},
		{"feature\nx\n", "the only column is feature"},
		{"feature,\"a\n\" x,b\n", `extraneous or missing " in quoted-field`},

		{wide + "x,1,-2\n", `row 1: the count of "x" in class b is -2; it must be zero or a number from 1e-100 to 1e+100`},
		{wide + "w,1,1\nx,NaN,2\n", `row 2: the count of "x" in class a is NaN; it must be`},
		{wide + "x,1,Inf\n", `row 1: the count of "x" in class b is +Inf; it must be`},
		{wide + "x,1,1e101\n", `row 1: the count of "x" in class b is 1e+101; it must be`},
		{wide + "x,1,1e-101\n", `row 1: the count of "x" in class b is 1e-101; it must be`},
		{wide + "x,1,1e999\n", `row 1: the count of "x" in class b is "1e999", not a number`},
		{wide + "x,1,two\n", `row 1: the count of "x" in class b is "two", not a number`},
		{wide + "x,1,\n", `row 1: the count of "x" in class b is "", not a number`},
		{wide + "x,1,2\ny,1,2\nx,3,4\n", `row 3: duplicate feature "x": it is already in row 1`},
		{wide + ",1,2\n", "row 1: the feature is empty"},
		{wide + "caf\xe9,1,2\n", `row 1: the feature "caf\xe9" is not valid UTF-8`},
		{wide + strings.Repeat("x", 65536) + ",1,2\n", "row 1: the feature has 65536 bytes; the maximum is 65535"},
		{wide + strings.Repeat("é", 65) + ",1,x\n", `row 1: the count of "` + strings.Repeat("é", 60) + `"… in class b is "x"`},
		{wide + "x,1\n", "row 1: has 2 fields, but the header has 3"},
		{wide + "\"x,1,2\n", "row 1: "},

		{long + "x,a,-2\n", `row 1: the count of "x" in class a is -2; it must be zero or a number from 1e-100 to 1e+100`},
		{long + "x,a,1\nx,b,nan\n", `row 2: the count of "x" in class b is NaN; it must be`},
		{long + "x,a,+inf\n", `row 1: the count of "x" in class a is +Inf; it must be`},
		{long + "x,a,1e101\n", `row 1: the count of "x" in class a is 1e+101; it must be`},
		{long + "x,a,many\n", `row 1: the count of "x" in class a is "many", not a number`},
		{long + "x,a,\n", `row 1: the count of "x" in class a is "", not a number`},
		{long + ",a,1\n", "row 1: the feature is empty"},
		{long + "x,,1\n", `row 1: the class "" is empty`},
		{long + "x, ,1\n", `row 1: the class "" is empty`},
		{long + "x,caf\xe9,1\n", `row 1: the class "caf\xe9" is not valid UTF-8`},
		{long + "x,a\x00,1\n", `row 1: the class "a\x00" contains a NUL byte`},
		{long + "x,\"a\nb\",-1\n", `row 1: the count of "x" in class "a\nb" is -1`},
		{long + "x,a,1\ny,a,1\nx,b,1\nx,a ,2\n", `row 4: duplicate count of "x" in class a: it is already in row 1`},
		{long + "x,a,1\ny,b\n", "row 2: has 2 fields, but the header has 3"},
		{long + "x,1,2\ny,7,0\n", "every class is a number and every feature has one row"},
		{"feature,class,count,documents\nx,a,1,1.5\n", `row 1: the document count of "x" in class a is 1.5; it must be a whole number from 0 to 2^53`},
		{"feature,class,count,documents\nx,a,1,-1\n", `row 1: the document count of "x" in class a is -1; it must be`},
		{"feature,class,count,documents\nx,a,1,NaN\n", `row 1: the document count of "x" in class a is NaN; it must be`},
		{"feature,class,count,documents\nx,a,1,1e16\n", `row 1: the document count of "x" in class a is 1e+16; it must be`},
		{"feature,class,count,documents\nx,a,1,\n", `row 1: the document count of "x" in class a is "", not a number`},
		{"feature,class,count,documents\nx,a,9,5\ny,big,9,5\n", `row 2: the document count of "y" in class big is 5, but the class has 4`},

		{"feature,class\nx,a\n", `row 1: the count of "x" in class class is "a", not a number ` + hint},
		{"feature,label,count\nx,a,3\n", `row 1: the count of "x" in class label is "a", not a number ` + hint},
		{"feature,class,count,year\nx,a,3,1788\n", `row 1: the count of "x" in class class is "a", not a number ` + hint},
	} {
		for _, tabs := range []bool{false, true} {
			text := c.text
			if tabs {
				if strings.Contains(text, `"`) || !strings.Contains(text, ",") {
					continue
				}
				text = strings.ReplaceAll(text, ",", "\t")
			}
			refused(t, text, Constraints{Documents: map[string]int64{"big": 4}}, c.want)
		}
	}
	if _, err := ValidateTable(t.Context(), filepath.Join(t.TempDir(), "none"), Constraints{}); err == nil {
		t.Error("a missing file is accepted")
	}
}

// refused checks that a table is refused with this error, in one line with the name of the file.
func refused(t *testing.T, content string, rules Constraints, want string) {
	t.Helper()
	name := write(t, content)
	_, err := ValidateTable(t.Context(), name, rules)
	var bad *TableError
	if !errors.As(err, &bad) || bad.File != name || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("%.60q: %v\nwant %s", content, err, want)
	}
}

func TestCountsOfDocuments(t *testing.T) {
	rules := Constraints{Documents: map[string]int64{"a": 5, "b": 1 << 60}, CountsAreDocuments: true}
	for text, want := range map[string]string{
		"feature,a,b\nx,5,2.5\n":                            `row 1: the document count of "x" in class b is 2.5; it must be a whole number`,
		"feature,a,b\nx,5,2\ny,6,2\n":                       `row 2: the document count of "y" in class a is 6, but the class has 5`,
		"feature,class,count\nx,a,5\nx,b,2.5\n":             `row 2: the document count of "x" in class b is 2.5; it must be a whole number`,
		"feature,class,count\nx,b,5\nx,a,6\n":               `row 2: the document count of "x" in class a is 6, but the class has 5`,
		"feature,class,count,documents\nx,a,5.5,6\n":        `row 1: the document count of "x" in class a is 6, but the class has 5`,
		"feature,class,documents,count\nx,a,1,1\nx,a,1,1\n": `row 2: duplicate count of "x" in class a: it is already in row 1`,
	} {
		refused(t, text, rules, want)
	}
	for _, text := range []string{"feature,a,b\nx,5,0\n", "feature,class,count\nx,a,5\n", "feature,class,count,documents\nx,a,5.5,5\n"} {
		if _, err := ValidateTable(t.Context(), write(t, text), rules); err != nil {
			t.Error(err)
		}
	}
	// Counts of occurrences have no such limit.
	rules.CountsAreDocuments = false
	if _, err := ValidateTable(t.Context(), write(t, "feature,a,b\nx,6,2.5\n"), rules); err != nil {
		t.Error(err)
	}
}

func TestParquetTablesThatAreRefused(t *testing.T) {
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
	str, whole, optional := parquet.String(), parquet.Leaf(parquet.Int64Type), parquet.Optional(parquet.Leaf(parquet.Int64Type))
	number := parquet.Leaf(parquet.DoubleType)
	type columns = map[string]parquet.Node
	type row = map[string]any
	for _, c := range []struct{ content, want string }{
		{"PAR1\xff\xff\xff\x7fPAR1", "not a readable Parquet file: the footer length 2147483647 exceeds the file size 12"},
		{"PAR1PAR1", "not a readable Parquet file: the file has only 8 bytes"},
		{parquetOf(t, []nested{{Feature: "x"}}), "column a is nested; only flat tables can be read"},
		{parquetOf(t, []list{{"x", []int64{1, 2}}}), "column a is repeated; only flat tables can be read"},
		{parquetWith(t, columns{"feature": str, "a": parquet.Decimal(2, 18, parquet.Int64Type)}, row{"feature": "x", "a": int64(1)}),
			"column a has the type DECIMAL(18,2); cast it to BIGINT or DOUBLE"},
		{parquetWith(t, columns{"feature": str, "class": str, "count": parquet.Decimal(2, 18, parquet.Int64Type)}, row{"feature": "x", "class": "a", "count": int64(1)}),
			"column count has the type DECIMAL(18,2); cast it to BIGINT or DOUBLE"},
		{parquetWith(t, columns{"feature": str, "class": str, "count": whole, "documents": parquet.Date()}, row{"feature": "x", "class": "a", "count": int64(1), "documents": int32(1)}),
			"column documents has the type DATE; cast it to BIGINT or DOUBLE"},
		{parquetWith(t, columns{"feature": str, "label": str, "count": whole}, row{"feature": "x", "label": "a", "count": int64(1)}),
			"column label has the type STRING; cast it to BIGINT or DOUBLE (a table with one row for each feature and class has the columns"},
		{parquetWith(t, columns{"feature": str, "a": optional}, row{"feature": "x", "a": int64(1)}, row{"feature": "y"}),
			`row 2: the count of "y" in class a is <null>, not a number`},
		{parquetWith(t, columns{"feature": parquet.Optional(str), "a": whole}, row{"a": int64(1)}),
			"row 1: the feature is <null>, not text"},
		{parquetWith(t, columns{"feature": number, "a": whole}, row{"feature": 1.5, "a": int64(1)}),
			"row 1: the feature is 1.5, not text"},
		{parquetWith(t, columns{"feature": str, "class": parquet.Optional(str), "count": whole}, row{"feature": "x", "count": int64(1)}),
			"row 1: the class is <null>, not text"},
		{parquetWith(t, columns{"feature": str, "class": parquet.Date(), "count": whole}, row{"feature": "x", "class": int32(1), "count": int64(1)}),
			"not text"},
		{parquetWith(t, columns{"feature": str, "class": str, "count": optional}, row{"feature": "x", "class": "a"}),
			`row 1: the count of "x" in class a is <null>, not a number`},
		{parquetWith(t, columns{"feature": str, "class": str, "count": parquet.Leaf(parquet.BooleanType)}, row{"feature": "x", "class": "a", "count": true}),
			`row 1: the count of "x" in class a is true, not a number`},
		{parquetWith(t, columns{"feature": str, "class": str, "count": number}, row{"feature": "x", "class": "a", "count": math.NaN()}),
			`row 1: the count of "x" in class a is NaN`},
		{parquetWith(t, columns{"feature": str, "class": str, "count": number}, row{"feature": "x", "class": "a", "count": math.Inf(1)}),
			`row 1: the count of "x" in class a is +Inf`},
		{parquetWith(t, columns{"feature": str, "class": str, "count": parquet.Leaf(parquet.Int32Type)}, row{"feature": "x", "class": "a", "count": int32(-1)}),
			`row 1: the count of "x" in class a is -1`},
		{parquetWith(t, columns{"feature": str, "class": str, "count": whole}, row{"feature": "x", "class": "a", "count": int64(1)}, row{"feature": "x", "class": "a", "count": int64(1)}),
			`row 2: duplicate count of "x" in class a: it is already in row 1`},
		{parquetWith(t, columns{"feature": str, "class": str, "count": whole, "documents": number}, row{"feature": "x", "class": "a", "count": int64(1), "documents": 0.5}),
			`row 1: the document count of "x" in class a is 0.5`},
	} {
		refused(t, c.content, Constraints{}, c.want)
	}
}

// The cause of a read error is kept: an I/O error may be temporary.
func TestTheCauseOfAFailureToReadIsKept(t *testing.T) {
	rows, err := openText(strings.NewReader("feature,a\nx,1\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows.read = csvRows(iotest.ErrReader(syscall.EIO))
	table := &tableReader{name: "counts", rows: rows}
	if err := table.nextRow(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if _, err := openText(iotest.ErrReader(syscall.EIO)); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// The header of a wide table is read in linear time.
func TestVeryWideTables(t *testing.T) {
	const classes = 100_000
	var head, row strings.Builder
	for i := range classes {
		fmt.Fprintf(&head, ",class%d", i)
		row.WriteString(",1")
	}
	name := write(t, "feature"+head.String()+"\nx"+row.String()+"\n")
	o, err := ValidateTable(t.Context(), name, Constraints{})
	if err != nil || len(o.Classes) != classes || len(contents(t, name)) != classes {
		t.Errorf("%d classes, %v", len(o.Classes), err)
	}
}

// layouts are the same random counts in every layout and format, with the rows in random order.
func layouts(t testing.TB, rng *rand.Rand, classes int) map[string]string {
	t.Helper()
	type long struct {
		Feature string  `parquet:"feature"`
		Class   string  `parquet:"class,dict"`
		Count   float64 `parquet:"count"`
	}
	var labels []string
	nodes := map[string]parquet.Node{"feature": parquet.String()}
	for i := range classes {
		labels = append(labels, fmt.Sprint("label ", i))
		nodes[labels[i]] = parquet.Leaf(parquet.DoubleType)
	}
	wide := [][]string{}
	narrow := []long{}
	columns := []map[string]any{}
	for i := range 50 {
		name := fmt.Sprintf("%d, \"é\"", i)
		record, row := []string{name}, map[string]any{"feature": name}
		for j, label := range labels {
			n := math.Exp(30*rng.Float64() - 10)
			if n < 1 && i > 0 {
				n = 0
			}
			record, row[label] = append(record, fmt.Sprint(n)), n
			if n > 0 || rng.IntN(3) == 0 || j == 0 { // a row of zero is optional, except to list the feature
				narrow = append(narrow, long{name, label, n})
			}
		}
		wide, columns = append(wide, record), append(columns, row)
	}
	rng.Shuffle(len(wide), func(i, j int) { wide[i], wide[j] = wide[j], wide[i] })
	rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	rng.Shuffle(len(narrow), func(i, j int) { narrow[i], narrow[j] = narrow[j], narrow[i] })
	var records [][]string
	for _, r := range narrow {
		records = append(records, []string{r.Feature, r.Class, fmt.Sprint(r.Count)})
	}
	wideHead, longHead := append([]string{"feature"}, labels...), []string{"feature", "class", "count"}
	return map[string]string{
		"wide CSV": csvOf(t, wideHead, wide), "wide TSV": tsvOf(wideHead, wide), "wide Parquet": parquetWith(t, nodes, columns...),
		"long CSV": csvOf(t, longHead, records), "long TSV": tsvOf(longHead, records), "long Parquet": parquetOf(t, narrow),
	}
}

func csvOf(t testing.TB, head []string, rows [][]string) string {
	t.Helper()
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(append([][]string{head}, rows...)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tsvOf(head []string, rows [][]string) string {
	text := strings.Join(head, "\t")
	for _, row := range rows {
		text += "\n" + strings.Join(row, "\t")
	}
	return text
}

// The same counts have the same sums, to the last bit, in any layout, format and order.
func TestShapesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for classes := 1; classes < 6; classes++ {
		var first map[place][2]float64
		var sums string
		for what, content := range layouts(t, rng, classes) {
			name := write(t, content)
			o, err := ValidateTable(t.Context(), name, Constraints{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got, text := contents(t, name), ""
			for _, label := range o.Classes {
				tokens, documents := o.Sums.Of(label)
				text += fmt.Sprintln(label, tokens, documents)
			}
			if first == nil {
				first, sums = got, text
			}
			if !maps.Equal(got, first) || text != sums {
				t.Errorf("%d classes, %s: %v\n%s, want\n%s", classes, what, got, text, sums)
			}
		}
	}
}

// Tables of pandas, Polars and DuckDB are read, including categorical columns.
func TestTablesOfOthers(t *testing.T) {
	python := outside.Python(t)
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(2, 2))
	long := layouts(t, rng, 3)["long CSV"]
	name := filepath.Join(dir, "long.csv")
	if err := os.WriteFile(name, []byte(long), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, filepath.Join(outside.Root(), "testdata", "readers", "counts.py"), name, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	written, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	want := contents(t, name)
	for _, other := range written {
		if _, err := ValidateTable(t.Context(), other, Constraints{}); err != nil {
			t.Error(err)
		}
		if got := contents(t, other); !maps.Equal(got, want) {
			t.Errorf("%s: %v", other, got)
		}
	}
	if len(written) != 5 {
		t.Errorf("%d files: %v", len(written), written)
	}
}

func FuzzWide(f *testing.F) {
	f.Add([]byte("feature,a,b\nupon,374,7\n"))
	f.Add([]byte("feature\ta\n\"\t1\n"))
	f.Add([]byte("feature,class,count\nx,a,1\nx,b,2\n"))
	f.Add([]byte("class\tdocuments\tfeature\tcount\na\t1\tx\t1\n"))
	f.Add([]byte(parquetOf(f, someRows(3))))
	f.Fuzz(func(t *testing.T, content []byte) {
		name := write(t, string(content))
		_, err := ValidateTable(t.Context(), name, Constraints{})
		var bad *TableError
		if err != nil && (!errors.As(err, &bad) || strings.Contains(err.Error(), "\n")) {
			t.Error(err)
		}
	})
}

// FuzzLong reads the rows of a long table with a map instead, which is slower and takes more memory.
func FuzzLong(f *testing.F) {
	f.Add("x,a,1\nx,b,2\ny,a,0\n", false)
	f.Add("x\ta\t1\ny\tb\t2\nx\tb\t.5", true)
	f.Add("x,0,1\ny,1,2\n", false)
	f.Add("\"\n\",\" é \",1e3\r\nx,a,7", false)
	f.Fuzz(func(t *testing.T, rows string, tabs bool) {
		head := "feature,class,count\n"
		if tabs {
			head = "feature\tclass\tcount\n"
		}
		name := write(t, head+rows)
		o, err := ValidateTable(t.Context(), name, Constraints{})
		if err != nil {
			return
		}
		table, err := openText(strings.NewReader(head + rows))
		if err != nil {
			t.Fatal(err)
		}
		want, classes := map[place][2]float64{}, map[string]bool{}
		for table.next() == nil {
			n, _ := table.number(2)
			class := strings.TrimSpace(table.fields[1])
			classes[class] = true
			at := place{table.fields[0], class}
			if _, ok := want[at]; ok && n != 0 {
				t.Errorf("%v is accepted twice", at)
			}
			if n != 0 {
				want[at] = [2]float64{n, n}
			}
		}
		if got := contents(t, name); !maps.Equal(got, want) || !slices.Equal(o.Classes, slices.Sorted(maps.Keys(classes))) {
			t.Errorf("%v, want %v; classes %q", got, want, o.Classes)
		}
	})
}
