package corpusio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// readPipe returns the documents and rejections of a stream.
func readPipe(in io.Reader, reading Reading) (documents []string, err error) {
	r, err := NewLines(in, "standard input", Options{Reading: reading, Reject: func(r Rejection) {
		documents = append(documents, fmt.Sprintf("%d ! %s", r.Offset, r.Reason))
	}})
	if err != nil {
		return nil, err
	}
	var d Document
	for r.Next(&d) {
		documents = append(documents, showDocument(d))
	}
	return documents, r.Close()
}

func TestPipe(t *testing.T) {
	long := strings.Repeat("x", 101)
	for _, c := range []struct {
		in        string
		reading   Reading
		documents []string
	}{
		{"", Reading{}, nil},
		{"\n\r\n", Reading{}, nil},
		{"one\r\n\n two\n" + long + "\nlast", Reading{}, []string{"0  one", "6   two", "11 ! too_long", "113  last"}},
		{"\n\ufeffone\nb\ttwo\n", Reading{}, []string{"1  one", "8  b\ttwo"}},
		{"Body, soul and mind\n", Reading{}, []string{"0  Body, soul and mind"}},
		{"id,text\n", Reading{Format: "text"}, []string{"0  id,text"}},
		{"id,text\n", Reading{Header: Absent}, []string{"0  id,text"}},
		{long + "\nlast", Reading{}, []string{"0 ! too_long", "102  last"}},
		{"\ufeffa\tone\r\n\n\ttwo\nthree", Reading{}, []string{"0 a one", "11  two", "16 ! no_tab"}},
		{"one\na\ttwo\n", Reading{Format: "tsv"}, []string{"0 ! no_tab", "4 a two"}},
		{"a\tone\ntwo\n", Reading{Format: "text"}, []string{"0  a\tone", "6  two"}},
		{"a\tone\n", Reading{LabelMap: map[string]string{"a": "b"}, LabelFrom: FromFolder}, []string{"0 b one"}},
		{"label\ttext\na\tone\n", Reading{Header: Present}, []string{"11 a one"}},
		{"text\none\n", Reading{Header: Present}, []string{"5  one"}},
		{"__label__a one\ntwo\n", Reading{}, []string{"0 a one", "15  two"}},
		{"\n\ufeff{\"text\":\"one\",\"id\":7}\n{\"text\":\"two\",\"label\":\"a\"}\nthree\n", Reading{IDColumn: "id"}, []string{"1  one id 7", "26  two", "53 ! not_json"}},
		{`{"n":{"t":"one"},"stars":3}`, Reading{TextColumns: []string{"n.t"}}, []string{"0 3 one"}},
	} {
		c.reading.LabelOptional, c.reading.MaxRecordBytes = true, 100
		for name, in := range map[string]io.Reader{
			"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)), "end with data": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			if got, err := readPipe(in, c.reading); err != nil || !slices.Equal(got, c.documents) {
				t.Errorf("%q, %s: %q, %v; want %q", c.in, name, got, err, c.documents)
			}
		}
	}
}

func TestPipesThatCannotBeRead(t *testing.T) {
	parquet, err := os.ReadFile(parquetFile("pyarrow"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in      string
		reading Reading
		want    string
	}{
		{string(gzipped(t, []byte("one\n"))), Reading{}, "standard input: is compressed with gzip; decompress it before the pipe"},
		{"\xff\xfeo\x00\n\x00", Reading{}, "standard input: the text is UTF-16, not UTF-8; convert it with: iconv -f UTF-16 -t UTF-8"},
		{"label,text\na,one\n", Reading{}, "standard input: the format csv cannot be read from a pipe, only tsv, text, fasttext, jsonl; write it to a file and name that with --input"},
		{"id,text\n1,one\n", Reading{}, "the format csv cannot be read from a pipe"},
		{"id\tday\ttext\n", Reading{}, "the format csv cannot be read from a pipe"},
		{string(parquet), Reading{}, "the format parquet cannot be read from a pipe"},
		{"one\n", Reading{IDColumn: "id"}, "the format csv cannot be read from a pipe"},
		{"one\n", Reading{Format: "text", IDColumn: "id"}, "--id_column: the format text has no columns"},
		{"one\n", Reading{Format: "file"}, "the format file cannot be read from a pipe"},
		{"{\n\"text\":\"one\"}\n", Reading{}, "is pretty-printed JSON"},
		{`{"text":"one"}`, Reading{LabelColumn: "x"}, `have no key "x" (--label_column)`},
		{"one\n", Reading{Format: "jsonl"}, "the first line is not a JSON object"},
		{"label\ttext\n", Reading{}, "the first line is a header (label, text)"},
		{"text\n", Reading{}, "the first line is a header (text)"},
	} {
		c.reading.LabelOptional, c.reading.MaxRecordBytes = true, maxRecord
		if got, err := readPipe(strings.NewReader(c.in), c.reading); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q, %+v: %q, %v; want %s", c.in, c.reading, got, err, c.want)
		}
	}
	broken := errors.New("broken")
	got, err := readPipe(io.MultiReader(strings.NewReader("one\ntwo"), iotest.ErrReader(broken)), Reading{LabelOptional: true, MaxRecordBytes: maxRecord})
	if !errors.Is(err, broken) || !slices.Equal(got, []string{"0  one"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// A document comes before the next line is written.
func TestPipeAnswersEachLine(t *testing.T) {
	out, in := io.Pipe()
	answers := make(chan string)
	go func() {
		defer close(answers)
		r, err := NewLines(out, "pipe", Options{Reading: Reading{LabelOptional: true, MaxRecordBytes: maxRecord}})
		if err != nil {
			answers <- err.Error()
			return
		}
		var d Document
		for r.Next(&d) {
			answers <- string(d.Text)
		}
	}()
	for _, text := range []string{"one", "two", "three"} {
		if _, err := io.WriteString(in, text+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-answers; got != text {
			t.Fatalf("%q, want %q", got, text)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if more, ok := <-answers; ok {
		t.Errorf("one more: %q", more)
	}
}

// Documents of a pipe are those of a file with the same format.
func FuzzPipe(f *testing.F) {
	for _, b := range []string{"a\tone\n\ttwo\n", "one\r\n\ufeff\n \ntwo", "__label__a one\n", `{"text":"one","id":1}` + "\n{", "text\n", "1,2\n"} {
		f.Add([]byte(b), byte(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, how byte) {
		reading := Reading{Format: pipeFormats[int(how)%len(pipeFormats)], LabelOptional: true, MaxRecordBytes: 60}
		got, err := readPipe(bytes.NewReader(b), reading)
		if err != nil || len(b) == 0 || reading.Format == "jsonl" { // the keys of a file may be in a later record
			return
		}
		want, err := readAll(t.Context(), save(t, "in", b), 5, reading)
		for _, r := range want.rejections {
			want.records = append(want.records, fmt.Sprintf("%d ! %s", r.Offset, r.Reason))
		}
		slices.Sort(want.records)
		if slices.Sort(got); err != nil || !slices.Equal(got, want.records) {
			t.Errorf("%s %q: %q; in a file %q, %v", reading.Format, b, got, want.records, err)
		}
	})
}
