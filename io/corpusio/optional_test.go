package corpusio

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
)

// readOptional reads a file in ranges of every size, plain and compressed, and returns its format and its documents, without
// their offsets, followed by rejections.
func readOptional(t *testing.T, name, content string, reading Reading) (format string, documents []string) {
	t.Helper()
	reading.MaxRecordBytes = maxRecord
	file := writeFile(t, name, content)
	files, err := List(t.Context(), []string{file}, reading)
	if err != nil {
		t.Fatalf("%s, %q: %v", name, content, err)
	}
	var all read
	if files[0].Size > 0 {
		all = readEverySize(t, file, reading)
		if got, err := readAll(t.Context(), writeFile(t, name+".gz", string(gzipped(t, []byte(content)))), 7, reading); err != nil || !slices.Equal(got.records, all.records) {
			t.Errorf("%s, compressed: %q, %v; want %q", name, got.records, err, all.records)
		}
	}
	for _, d := range all.records {
		_, d, _ = strings.Cut(d, " ")
		documents = append(documents, d)
	}
	for _, r := range all.rejections {
		documents = append(documents, "! "+string(r.Reason))
	}
	return files[0].Format, documents
}

// readEverySize is readEvery for a short file, with ranges of every size.
func readEverySize(t *testing.T, name string, reading Reading) read {
	t.Helper()
	whole := readEvery(t, name, reading)
	for size := int64(1); size <= min(whole.spans[0].File.Size, 200); size++ {
		got, err := readAll(t.Context(), name, size, reading)
		if err != nil || !slices.Equal(got.records, whole.records) || !slices.Equal(got.rejections, whole.rejections) {
			t.Fatalf("ranges of %d bytes: %q, %v, %v; want %q, %v", size, got.records, got.rejections, err, whole.records, whole.rejections)
		}
	}
	return whole
}

func TestDocumentsWithoutLabels(t *testing.T) {
	long := strings.Repeat("x", MaxLabelBytes+1)
	wet := string(warcRecord("conversion", "text/plain", "a page"))
	for _, c := range []struct {
		name, content string
		reading       Reading
		format        string
		documents     []string
	}{
		{"lines", "\ufeffone\r\n\n two \nthree", Reading{}, "text", []string{" one", "  two ", " three"}},
		{"late tab", strings.Repeat("word ", headBytes/5+1) + "\na\tb\n", Reading{}, "text", []string{" " + strings.Repeat("word ", headBytes/5+1), " a\tb"}},
		{"prose", "Body, soul and mind\nBut no more, he said\n", Reading{}, "text", []string{" Body, soul and mind", " But no more, he said"}},
		{"prose", "title,first\none\n", Reading{}, "text", []string{" title,first", " one"}},
		{"prose", "Body,soul", Reading{}, "text", []string{" Body,soul"}},
		{"csv", "author,text,lang\nJay,one,en\n", Reading{IDColumn: "author", GroupColumn: "lang"}, "csv", []string{" one id Jay group en"}},
		{"lines", "text\none\n", Reading{Header: Present}, "text", []string{" one"}},
		{"lines", "text\none\n", Reading{Header: Absent}, "text", []string{" text", " one"}},
		{"lines", "a\tone\nb\n", Reading{Format: "text"}, "text", []string{" a\tone", " b"}},
		{"whole", "one\ntwo\n", Reading{WholeFiles: true}, "file", []string{" one\ntwo\n"}},
		{"lines", "a\tone\n", Reading{WholeFiles: true}, "", []string{"a one"}},
		{"whole", "one\ntwo\n", Reading{Format: "file"}, "file", []string{" one\ntwo\n"}},
		{"tsv", "a\tone\n\ttwo\n \t\nthree\n" + long + "\tfour\n\x00\tfive\n", Reading{}, "",
			[]string{"a one", " two", " ", "! no_tab", "! long_label", "! nul_label"}},
		{"tsv", "title\tlong story\n", Reading{}, "", []string{"title long story"}},
		{"tsv", "a\tone\r\n\ttwo\rb\tthree\n\tfour\ufeffb\tfive\n", Reading{}, "", []string{"a one", "! bare_return", "! inner_mark"}},
		{"tsv", "id\ttext\n7\tsome words\n", Reading{Header: Present}, "csv", []string{" some words"}},
		{"tsv", "id\tday\ttext\n7\tMo\tsome words\n", Reading{}, "csv", []string{" some words"}},
		{"fasttext", "__label__a one\ntwo three\n__label__ four\n__label__ __label__b five\n", Reading{}, "fasttext", []string{"a one", " two three", " four", "b five"}},
		{"fasttext", "one\n__label__a two\n", Reading{}, "fasttext", []string{" one", "a two"}},
		{"fasttext", "one\n", Reading{Format: "fasttext"}, "fasttext", []string{" one"}},
		{"jsonl", `{"text":"one"}` + "\n" + `{"text":"two","label":"a"}` + "\n" + `{"label":null,"text":"three"}` + "\n" + `{"label":[],"text":"four"}` + "\n" +
			`{"label":["","b",""," c "],"text":"five"}` + "\n" + `{"label":" ","text":"six"}` + "\n" + `{"label":{},"text":""}` + "\n" + `{"label":"\u0000","text":""}`, Reading{}, "jsonl",
			[]string{" one", "a two", " three", " four", "b+c five", " six", "! bad_label", "! nul_label"}},
		{"jsonl", `{"text":"one","label":{"x":1},"stars":3}`, Reading{}, "jsonl", []string{"3 one"}},
		{"jsonl", `{"tweet":"one"}`, Reading{}, "jsonl", []string{" one"}},
		{"jsonl", `{"topic":"one","stars":3}`, Reading{TextColumns: []string{"topic"}}, "jsonl", []string{"3 one"}},
		{"csv", "id,text\n1,\"one, \"\"two\"\"\"\n2,\n", Reading{}, "csv", []string{` one, "two"`, " "}},
		{"csv", "text,label\none,a\ntwo,\nthree, \n", Reading{}, "csv", []string{"a one", " two", " three"}},
		{"some.csv", "text\none\n\"two, three\"\n\"four\n\"\n", Reading{}, "csv", []string{" one", " two, three", " four\n"}},
		{"some.csv", "text\none, two, three\nfour\n", Reading{}, "csv", []string{" one, two, three", " four"}},
		{"some.csv", "tweet\none\n", Reading{Header: Present}, "csv", []string{" one"}},
		{"some.csv", "tweet\none\n", Reading{Header: Absent}, "csv", []string{" tweet", " one"}},
		{"some.csv", "tweet\none\n", Reading{TextColumns: []string{"tweet"}}, "csv", []string{" one"}},
		{"csv", "topic,title\none,two\n", Reading{TextColumns: []string{"topic"}}, "csv", []string{" one"}},
		{"wet", wet + wet, Reading{}, "wet", []string{" a page", " a page"}},
		{"svmlight", "1:2 7:1\n3 2:1\n", Reading{}, "svmlight", []string{" 1=2 7=1", "3 2=1"}},
		{"matrix", "upon,whilst\n1,0\n0,2\n", Reading{Format: "matrix"}, "matrix", []string{" upon=1", " whilst=2"}},
		{"matrix", "upon,label\n1,\n", Reading{Format: "matrix"}, "matrix", []string{" upon=1"}},
		{"classes", "a\tone\n\ttwo\nb\tthree\n", Reading{Classes: []string{"c"}, LabelMap: map[string]string{"a": "c"}}, "", []string{"c one", " two"}},
		{"empty", "", Reading{}, "text", nil},
	} {
		c.reading.LabelOptional = true
		if format, got := readOptional(t, c.name, c.content, c.reading); format != c.format || !slices.Equal(got, c.documents) {
			t.Errorf("%s %q: format %q, documents %q; want %q, %q", c.name, c.content, format, got, c.format, c.documents)
		}
	}
}

func TestFilesWithoutTheColumnsOfFlags(t *testing.T) {
	for _, c := range []struct {
		name, content string
		reading       Reading
		want          string
	}{
		{"in", "text\none\n", Reading{}, "in: the first line is a header (text); use --header to skip the first line of every file, --header=false to read it as a document"},
		{"in", "id\ttext\n7\tone\n", Reading{}, "the first line is a header (id, text); use --header"},
		{"in.csv", "I came\nI saw\n", Reading{}, `in.csv: the first row has one column, "I came"; use --header if that is its name, --header=false if it is a document`},
		{"in.csv", "label\na\n", Reading{Header: Present}, "no column is named as texts usually are; name it with --text_column; the columns are label"},
		{"in", "id,text\n1,one\n", Reading{LabelColumn: "gold"}, `there is no column "gold" (--label_column); the columns are id, text`},
		{"in", `{"text":"one"}`, Reading{LabelColumn: "gold"}, `the first records have no key "gold" (--label_column); the keys of the first one are text`},
		{"in", "id,text\n1,one\n", Reading{IDColumn: "key"}, `there is no column "key" (--id_column); the columns are id, text`},
		{"in", `{"text":"one"}`, Reading{GroupColumn: "writer"}, `the first records have no key "writer" (--group_column)`},
		{"in", "one\ntwo\n", Reading{Format: "text", IDColumn: "id"}, "--id_column: the format text has no columns; csv, jsonl, parquet, matrix have; a tab-separated file with a header is csv"},
		{"in", "a\tone\n", Reading{Format: "tsv", GroupColumn: "id"}, "--group_column: the format tsv has no columns"},
		{"in", "__label__a one\n", Reading{IDColumn: "id"}, "--id_column: the format fasttext has no columns"},
		{"in", string(warcRecord("conversion", "text/plain", "a page")), Reading{IDColumn: "id"}, "--id_column: the format wet has no columns"},
		{"in", "a\tone\n", Reading{IDColumn: "id"}, "; the columns are a, one (read as csv because of --id_column; only csv, jsonl, parquet, matrix have columns)"},
		{"in.csv", "a,one\n", Reading{IDColumn: "id"}, "no column is named as texts usually are; name it with --text_column; the columns are a, one"},
		{"in", "score,class\n1,2\n", Reading{Format: "matrix"}, "several columns may be the label"},
		{"in", "author,text\nJay,one\n", Reading{GroupColumn: "author"}, `column "author" would be the label, too; name the label with --label_column`},
		{"in", `{"author":"Jay","text":"one"}`, Reading{IDColumn: "author"}, `key "author" would be the label, too`},
	} {
		c.reading.LabelOptional = c.reading.IDColumn+c.reading.GroupColumn != "author"
		_, err := readAll(t.Context(), writeFile(t, c.name, c.content), 7, c.reading)
		var layout *LayoutError
		var header *HeaderError
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &layout) && !errors.As(err, &header) {
			t.Errorf("%q, %+v: %v; want %s", c.content, c.reading, err, c.want)
		}
	}
}

func TestIDsAndGroups(t *testing.T) {
	both := Reading{IDColumn: "id", GroupColumn: "author"}
	for _, c := range []struct {
		content   string
		reading   Reading
		format    string
		documents []string
	}{
		{"id,text,label,author\n007,one,a,Jay\n,two,b,\n\"x\"\"y\", three ,c, J \n", both, "csv",
			[]string{"a one id 007 group Jay", "b two", `c  three  id x"y group  J `}},
		{"id,text,label\n1,one,a\n", Reading{IDColumn: "1", GroupColumn: "id"}, "csv", []string{"a one id 1 group 1"}},
		{"1,one,a\n", Reading{IDColumn: "1", LabelColumn: "3", TextColumns: []string{"2"}, Header: Absent}, "csv", []string{"a one id 1"}},
		{"id\tlabel\ttext\tauthor\n1.50\ta\tone\tJay\n", both, "csv", []string{"a one id 1.50 group Jay"}},
		{`{"id":12345678901234567890,"author":"J\u0061y","text":"one","label":"a"}` + "\n" + `{"id":1.50,"author":null,"text":"two","label":"b"}` + "\n" +
			`{"author":true,"text":"three","label":"c"}` + "\n" + `{"id":{},"text":"four","label":"d"}` + "\n" + `{"author":["x"],"text":"five","label":"e"}`, both, "jsonl",
			[]string{"a one id 12345678901234567890 group Jay", "b two id 1.50", "c three group true", "! bad_id", "! bad_id"}},
		{`{"_id":{"$oid":"5f"},"text":"one","label":"a"}`, Reading{IDColumn: "_id.$oid", GroupColumn: "label", LabelColumn: "label"}, "jsonl", []string{"a one id 5f group a"}},
		{"label,upon,id,whilst,author\na,1,x,2,Jay\nb,3,,0,\n", Reading{Format: "matrix", IDColumn: "id", GroupColumn: "author", LabelColumn: "label"}, "matrix",
			[]string{"a upon=1 whilst=2 id x group Jay", "b upon=3"}},
	} {
		if format, got := readOptional(t, "in", c.content, c.reading); format != c.format || !slices.Equal(got, c.documents) {
			t.Errorf("%q: format %q, documents %q; want %q, %q", c.content, format, got, c.format, c.documents)
		}
		c.reading.LabelOptional = true // the label is found all the same
		if _, got := readOptional(t, "in", c.content, c.reading); !slices.Equal(got, c.documents) {
			t.Errorf("%q, labels optional: %q; want %q", c.content, got, c.documents)
		}
	}
}

type parquetRow struct {
	ID     *int64   `parquet:"id,optional"`
	Big    uint64   `parquet:"big"`
	Number *float64 `parquet:"number,optional"`
	Text   string   `parquet:"text"`
	Label  *string  `parquet:"label,optional"`
	Tags   []string `parquet:"tags"`
}

func writeParquet[T any](t *testing.T, rows []T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.parquet")
	if err := parquetgo.WriteFile(name, rows, parquetgo.MaxRowsPerRowGroup(2)); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestParquetWithoutLabels(t *testing.T) {
	rows := []parquetRow{
		{ID: new(int64(-7)), Big: 1<<64 - 1, Number: new(2.5), Text: "one", Label: new("a")},
		{Text: "two", Label: new(" ")},
		{ID: new(int64(12345678901234567)), Text: "three"},
	}
	name := writeParquet(t, rows)
	for _, c := range []struct {
		reading Reading
		want    []string
	}{
		{Reading{IDColumn: "id", GroupColumn: "big"}, []string{"0 a one id -7 group 18446744073709551615", "1  two group 0", "2  three id 12345678901234567 group 0"}},
		{Reading{IDColumn: "number", GroupColumn: "text"}, []string{"0 a one id 2.5 group one", "1  two group two", "2  three group three"}},
		{Reading{LabelColumn: "id"}, []string{"0 -7 one", "1  two", "2 12345678901234567 three"}},
	} {
		c.reading.LabelOptional = true
		if got := readEverySize(t, name, c.reading); !slices.Equal(got.records, c.want) || len(got.rejections) > 0 {
			t.Errorf("%+v: %q, %v; want %q", c.reading, got.records, got.rejections, c.want)
		}
	}
	if got := readEvery(t, name, Reading{}); len(got.records) != 1 || len(got.rejections) != 2 {
		t.Errorf("where labels are required: %+v", got)
	}
	if _, err := readAll(t.Context(), name, 100, Reading{LabelOptional: true, IDColumn: "tags"}); err == nil || !strings.Contains(err.Error(), `column "tags" is`) {
		t.Errorf("a list of ids: %v", err)
	}

	type onlyText struct {
		Tweet string `parquet:"tweet"`
	}
	if got := readEverySize(t, writeParquet(t, []onlyText{{"one"}, {""}}), Reading{LabelOptional: true}); !slices.Equal(got.records, []string{"0  one", "1  "}) {
		t.Error(got)
	}
	type listOfLabels struct {
		Labels []string `parquet:"labels"`
		Text   string   `parquet:"text"`
	}
	lists := writeParquet(t, []listOfLabels{{[]string{"a"}, "one"}})
	if got := readEverySize(t, lists, Reading{LabelOptional: true}); !slices.Equal(got.records, []string{"0  one"}) {
		t.Error(got)
	}
	if _, err := readAll(t.Context(), lists, 100, Reading{LabelOptional: true, LabelColumn: "labels"}); err == nil {
		t.Error("a list of labels that is asked for passed")
	}
}

// The values of a document are those of its record, not of one before.
func TestValuesOfADocumentBefore(t *testing.T) {
	d := Document{ID: []byte("old"), Group: []byte("old"), Weight: 7}
	r := openOnly(t, writeFile(t, "in", "a\tone\n"), Reading{MaxRecordBytes: maxRecord})
	if !r.Next(&d) || d.ID != nil || d.Group != nil || d.Weight != 1 {
		t.Errorf("%+v", d)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func openOnly(t *testing.T, name string, reading Reading) Reader {
	t.Helper()
	files, err := List(t.Context(), []string{name}, reading)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), Range{files[0], 0, files[0].Size}, Options{Reading: reading})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func FuzzUnlabeled(f *testing.F) {
	for _, content := range []string{
		"one\ntwo\n", "id,text\n1,\"one\n\"\n", "id\ttext\n1\tone\n", `{"text":"one","id":1}` + "\n" + `{"label":[""],"text":""}`, "__label__a one\ntwo\n",
		"a\tone\n\ttwo\n", "1:2 7:1\n", "text\none\n",
	} {
		f.Add(content, uint8(3), false)
		f.Add(content, uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, content string, size uint8, id bool) {
		reading := Reading{LabelOptional: true}
		if id {
			reading.IDColumn = "id"
		}
		fuzzText(t, content, int64(size)+1, reading)
	})
}
