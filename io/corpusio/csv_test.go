package corpusio

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// csvRow is a row as a reference reads it.
type csvRow struct {
	offset int64
	reason Reason
	fields []string
}

// simpleRows is a simple implementation of the format, a byte at a time.
func simpleRows(b string, delimiter byte, inLine bool, maxBytes int) (rows []csvRow) {
	at := 0
	nextLine := func(from int) int {
		if i := strings.IndexByte(b[from:], '\n'); i >= 0 {
			return from + i + 1
		}
		return len(b)
	}
	for at < len(b) {
		row := csvRow{offset: int64(at)}
		for strings.HasPrefix(b[at:], "\ufeff") {
			at += 3
		}
		start, i, field, quoted := at, at, "", false
		line := strings.TrimSuffix(strings.TrimSuffix(b[at:nextLine(at)], "\n"), "\r")
		if line == "" {
			rows = append(rows, row)
			at = nextLine(at)
			continue
		}
		if inLine && len(line) > maxBytes {
			row.reason, row.fields = TooLong, nil
			rows = append(rows, row)
			at = nextLine(at)
			continue
		}
		if inLine {
			row.fields = splitLine(line, delimiter)
			rows = append(rows, row)
			at = nextLine(at)
			continue
		}
		isEnd := func(i int) bool {
			return i == len(b) || b[i] == '\n' || b[i] == '\r' && (i+1 == len(b) || b[i+1] == '\n')
		}
	parse:
		for {
			limit := at + maxBytes + 2
			switch {
			case !quoted && i == start && !strings.HasPrefix(b[i:], `"`) && limit <= len(b) && !strings.Contains(b[min(i, limit):limit], "\n"):
				row.reason = TooLong
				break parse
			case !quoted && i == start && i < len(b) && b[i] == '"':
				quoted = true
				i++
			case quoted && (i >= len(b) || i >= limit):
				row.reason = UnclosedQuote
				break parse
			case quoted && strings.HasPrefix(b[i:], `""`):
				field += `"`
				i += 2
			case quoted && b[i] == '"':
				quoted = false
				i++
				if !isEnd(i) && b[i] != delimiter {
					row.reason = AfterQuote
					break parse
				}
				if isEnd(i) {
					row.fields = append(row.fields, field)
					break parse
				}
				row.fields = append(row.fields, field)
				i++
				start, field = i, ""
			case quoted:
				field += b[i : i+1]
				i++
			case isEnd(i):
				row.fields = append(row.fields, field)
				break parse
			case b[i] == delimiter:
				row.fields = append(row.fields, field)
				i++
				start, field = i, ""
			default:
				field += b[i : i+1]
				i++
			}
		}
		if row.reason != "" {
			row.fields = nil
			at = nextLine(start)
		} else {
			if i-at > maxBytes {
				row.reason = TooLong
			}
			at = nextLine(i)
		}
		rows = append(rows, row)
	}
	return rows
}

// splitLine splits a line in which quotes need not be closed.
func splitLine(line string, delimiter byte) (fields []string) {
	for {
		if strings.HasPrefix(line, `"`) {
			i := 1
			for i < len(line) && (line[i] != '"' || strings.HasPrefix(line[i:], `""`)) {
				if line[i] == '"' {
					i++
				}
				i++
			}
			if i < len(line) && (i+1 == len(line) || line[i+1] == delimiter) {
				fields = append(fields, strings.ReplaceAll(line[1:i], `""`, `"`))
				if i+1 == len(line) {
					return fields
				}
				line = line[i+2:]
				continue
			}
		}
		field, rest, more := strings.Cut(line, string(delimiter))
		fields = append(fields, field)
		if !more {
			return fields
		}
		line = rest
	}
}

// csvContent is what the reference makes of a file.
func csvContent(name, b string, l csvLayout, maxBytes int) (c content) {
	for _, row := range simpleRows(b, l.delimiter, l.inLine, maxBytes) {
		switch {
		case row.reason == "" && len(row.fields) == 0:
			c.blank++
		case row.offset == l.header:
		case row.reason == "" && len(row.fields) != l.width:
			c.rejections = append(c.rejections, Rejection{name, row.offset, WrongColumns})
		case row.reason != "":
			c.rejections = append(c.rejections, Rejection{name, row.offset, row.reason})
		default:
			label, text := strings.TrimSpace(row.fields[l.label]), row.fields[l.texts[0]]
			reason := checkLabel([]byte(label))
			if reason != "" {
				c.rejections = append(c.rejections, Rejection{name, row.offset, reason})
				continue
			}
			c.records = append(c.records, record{label, text})
		}
	}
	return c
}

// readTable reads a file in ranges of a size, as reading says.
func readTable(t testing.TB, name string, size int64, reading Reading) (c content) {
	t.Helper()
	if reading.MaxRecordBytes == 0 {
		reading.MaxRecordBytes = maxRecord
	}
	files, err := List(t.Context(), []string{name}, reading)
	if err != nil {
		t.Fatal(err)
	}
	return readListed(t, files[0], size, reading)
}

func readListed(t testing.TB, f File, size int64, reading Reading) (c content) {
	t.Helper()
	ranges, err := Split(t.Context(), f, size, reading)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for _, rg := range ranges {
		if rg.Start != at || rg.End <= rg.Start {
			t.Fatalf("ranges of %d bytes: %v after %d", size, rg, at)
		}
		at = rg.End
		r, err := Open(t.Context(), rg, Options{Reading: reading, Reject: func(r Rejection) { c.rejections = append(c.rejections, r) }})
		if err != nil {
			t.Fatal(err)
		}
		var d Document
		for r.Next(&d) {
			c.records = append(c.records, record{string(d.Label), string(d.Text)})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		c.blank += r.Skipped().Blank
		c.spans = append(c.spans, r.Span())
	}
	if at != f.Size {
		t.Fatalf("ranges of %d bytes end at %d of %d", size, at, f.Size)
	}
	return c
}

const messy = "\ufefftext,label\r\n" +
	"\"Two\r\nlines, and \"\"quotes\"\"\",a\r\n" +
	"plain,b\n\n" +
	"a 5\" disk,b\n" +
	"\"\",\" c \"\n" +
	"\"after\" quote,a\n" +
	"\"never closed,a\nx,b\n\"\"\"y\"\"\",\"b\"\n" +
	"one\nthree,a,b\n" +
	"\"the field that fails\nstarts in the second line\",\"a\nx,b\n" +
	"\ufeffmark,a\n" +
	"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz,a\n" +
	"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz,a\n" +
	"\"zzzzzzzzzzzzzzzzzzzzzzzzzz\nzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\",a\r\n" +
	"\"zzzzzzzzzzzzzzzzzzzzzzzzzz\nzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\",a\r\n" +
	"no label,\nlast,a"

func TestCSVOfEveryRangeSize(t *testing.T) {
	name := save(t, "in.csv", []byte(messy))
	reading := Reading{MaxRecordBytes: 60}
	want := content{
		records: []record{
			{"a", "Two\r\nlines, and \"quotes\""}, {"b", "plain"}, {"b", "a 5\" disk"}, {"c", ""}, {"b", "x"}, {"b", "\"y\""}, {"b", "x"}, {"a", "mark"},
			{"a", strings.Repeat("z", 58)}, {"a", strings.Repeat("z", 26) + "\n" + strings.Repeat("z", 29)}, {"a", "last"},
		},
		blank: 1,
	}
	for _, r := range []struct {
		start  string
		reason Reason
	}{
		{`"after`, AfterQuote}, {`"never`, AfterQuote}, {"one", WrongColumns}, {"three", WrongColumns}, {`"the field`, UnclosedQuote},
		{strings.Repeat("z", 59) + ",a", TooLong}, {"\"zzzzzzzzzzzzzzzzzzzzzzzzzz\nzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"", TooLong}, {"no label", EmptyLabel},
	} {
		want.rejections = append(want.rejections, Rejection{name, int64(strings.Index(messy, r.start)), r.reason})
	}
	for size := int64(1); size <= int64(len(messy))+1; size++ {
		got := readTable(t, name, size, reading)
		if !same(got, want) {
			t.Fatalf("ranges of %d bytes:\n%q\n%+v\n%d blank; want\n%q\n%+v", size, got.records, got.rejections, got.blank, want.records, want.rejections)
		}
		checkSpans(t, got.spans, []byte(messy))
	}
	for _, how := range []Compression{Gzip, Zstd, Bzip2} {
		packed := save(t, "in", pack(t, how, []byte(messy[:50]), []byte(messy[50:])))
		if got := readTable(t, packed, 16, reading); !slices.Equal(got.records, want.records) || len(got.rejections) != len(want.rejections) {
			t.Errorf("%s: %+v", how, got)
		}
	}
}

// Any bytes are read as the reference reads them, in ranges of any size.
func FuzzCSV(f *testing.F) {
	f.Add([]byte(messy), uint16(7), uint8(60), uint8(0))
	f.Add([]byte("label\ttext\n\"a\"\t\"b \"\"c\"\"\"\nb\t\"d\ne\t\"f\" g\n\"h\ti\"\tj\n"), uint16(1), uint8(20), uint8(1))
	f.Add([]byte("x\",y,\"\nx\",y,\"\nx\",y,\"\nx\",y,\"\n"), uint16(3), uint8(9), uint8(2))
	f.Add([]byte("a,b\n\"\"\"\"\"\",\"\"\n\"a\"\r,b\n\"a\"\r\nb\r\r\n,\r\n"), uint16(3), uint8(5), uint8(0))
	f.Fuzz(checkCSV)
}

func TestRandomCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{`"`, `"`, ",", ",", "\n", "\n", "\r\n", "\r", "a", "bc", " ", "\t", `""`, "\ufeff", "\xef\xbb"}
	for range 2000 {
		var b []byte
		for range 1 + rng.IntN(60) {
			b = append(b, pieces[rng.IntN(len(pieces))]...)
		}
		checkCSV(t, b, uint16(rng.IntN(30)), uint8(rng.IntN(30)), uint8(rng.IntN(2)))
	}
}

// checkCSV compares any bytes with the reference, in ranges of two sizes.
func checkCSV(t *testing.T, b []byte, size uint16, maxBytes, how uint8) {
	if checkEncoding("", b) != nil || len(b) == 0 || compressionOf(b) != Plain || unsupported("in", Plain, b) != "" {
		return
	}
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, header := range []Header{Unknown, Absent} {
		// Any bytes get a layout, or an error that says why not.
		_, err := List(t.Context(), []string{name}, Reading{Format: "csv", Header: header, MaxRecordBytes: 99})
		var layout *LayoutError
		var corrupt *CorruptError
		if err != nil && !errors.As(err, &layout) && !errors.As(err, &corrupt) {
			t.Fatal(err)
		}
	}
	l := csvLayout{columns{1, []int{0}, -1, -1, -1}, []byte{',', '\t', ';', '|'}[how%4], 2, how%4 == 1, int64(how/4) - 1}
	file := fileOf(t, name, File{Format: "csv", Layout: l.String()})
	reading := Reading{MaxRecordBytes: int(maxBytes) + 1}
	want := csvContent(name, string(b), l, reading.MaxRecordBytes)
	for _, size := range []int64{int64(size) + 1, 1 << 40} {
		if got := readListed(t, file, size, reading); !same(got, want) {
			t.Errorf("%q in ranges of %d, at most %d:\n got %q %+v %d\nwant %q %+v %d", b, size, reading.MaxRecordBytes,
				got.records, got.rejections, got.blank, want.records, want.rejections, want.blank)
		}
	}
}

// What encoding/csv writes and reads is read like that.
func TestCSVAsEncodingCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`"`, ",", "\n", "a", "word ", " ", ";", "\t", "é", `""`, "x"}
	for range 300 {
		delimiter := []rune{',', ';', '|'}[rng.IntN(3)]
		var want []record
		var b bytes.Buffer
		w := stdcsv.NewWriter(&b)
		w.Comma = delimiter
		w.UseCRLF = rng.IntN(2) == 0
		width := 2 + rng.IntN(3)
		header := []string{"label", "text", "id", "more"}[:width]
		if err := w.Write(header); err != nil {
			t.Fatal(err)
		}
		for range rng.IntN(50) {
			row := make([]string, width)
			for i := range row {
				for range rng.IntN(6) {
					row[i] += pieces[rng.IntN(len(pieces))]
				}
			}
			row[0] = []string{"a", "b", "c, d", `e"`}[rng.IntN(4)]
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		r := stdcsv.NewReader(bytes.NewReader(b.Bytes()))
		r.Comma = delimiter
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			want = append(want, record{row[0], row[1]})
		}
		name := save(t, "in.csv", b.Bytes())
		for _, size := range []int64{1, 1 + int64(rng.IntN(100)), 1 << 40} {
			got := readTable(t, name, size, Reading{})
			for i := range got.records { // encoding/csv drops the carriage returns of line ends also within a field
				got.records[i].text = strings.ReplaceAll(got.records[i].text, "\r\n", "\n")
			}
			if !slices.Equal(got.records, want) || len(got.rejections) > 0 {
				t.Fatalf("%q in ranges of %d:\n got %q %+v\nwant %q", b.String(), size, got.records, got.rejections, want)
			}
		}
	}
}

func TestCSVIsDetected(t *testing.T) {
	const rows = "pos,A fine film,1\nneg,A dull one,2\n"
	usual := Reading{}
	columns := Reading{LabelColumn: "kind", TextColumns: []string{"title", "3"}}
	absent := Reading{Header: Absent}
	for _, c := range []struct {
		name, text string
		reading    Reading
		want       string // format and layout, or the error
	}{
		{"in", "label,text,id\n" + rows, usual, "csv delimiter=comma columns=3 label=1 text=2 header=0"},
		{"in", "\ufeff id; Review ;\"Sentiment\"\n1;x;y\n", usual, "csv delimiter=semicolon columns=3 label=3 text=2 header=0"},
		{"in", "text|id|class\n", usual, "csv delimiter=pipe columns=3 label=3 text=1 header=0"},
		{"in", "label\ttext\na\tb\n", usual, "tsv"},
		{"in", "text\tlabel\nsome words\ta\n", usual, "csv delimiter=tab columns=2 label=2 text=1 header=0 rows=lines"},
		{"in", "text\tlabel\na\tsome words\n", usual, "tsv"},
		{"in", "label\ttext\tid\na\tb\tc\n", usual, "csv delimiter=tab columns=3 label=1 text=2 header=0 rows=lines"},
		{"in", "label\ttext\tid\na\tb\na\tc\n", usual, "tsv"},
		{"in", "label\ttext\tid\na\t\"b\nc\"\td\n", usual, "csv delimiter=tab columns=3 label=1 text=2 header=0"},
		{"in", "label\ttext\tid\na\t\"b\td\n", usual, "csv delimiter=tab columns=3 label=1 text=2 header=0 rows=lines"},
		{"in", "label\ttext\n", Reading{Format: "csv"}, "csv delimiter=tab columns=2 label=1 text=2 header=0"},
		{"in", "a\tthe label, the text\n", usual, "tsv"},
		{"in", "label, text\tand more\n", usual, "tsv"},
		{"in", "some words, a text\n", usual, "tsv"},
		{"in", "id,text,kind\n", usual, "in: no column is named as labels usually are; name it with --label_column; the columns are id, text, kind"},
		{"in.csv", "id,title,kind\n", usual, "in.csv: no column is named as labels usually are; name it with --label_column; the columns are id, title, kind"},
		{"in.csv.gz", "a,b\n", usual, "in.csv.gz: no column is named as labels usually are; name it with --label_column; the columns are a, b"},
		{"in.csv", "a\tb, c\n", usual, "tsv"},
		{"in", "id,title,body,kind\n", columns, "csv delimiter=comma columns=4 label=4 text=2,3 header=0"},
		{"in", "title\tkind\tid\n", columns, "csv delimiter=tab columns=3 label=2 text=1,3 header=0 rows=lines"},
		{"in", "id,body,kind\n", columns, `in: there is no column "title" (--text_column); the columns are id, body, kind`},
		{"in", "kind\n", columns, `in: there is no column "title" (--text_column); the columns are kind`},
		{"in", "label\ttext\n", Reading{LabelColumn: "2", TextColumns: []string{"1"}}, "csv delimiter=tab columns=2 label=2 text=1 header=0 rows=lines"},
		{"in", "a b\tx\n", Reading{LabelColumn: "2", TextColumns: []string{"1"}, Header: Absent}, "csv delimiter=tab columns=2 label=2 text=1 rows=lines"},
		{"in.csv", "pos,\"A; B; C\"\n", absent, "csv delimiter=comma columns=2 label=1 text=2"},
		{"in.csv", "a;\"x,y\"\nb;z\n", absent, "csv delimiter=semicolon columns=2 label=1 text=2"},
		{"in", "a,b,c\n", Reading{Format: "csv", Header: Absent}, "in: no column is named as labels usually are; name it with --label_column; the columns are 1, 2, 3"},
		{"in", "label,text,text\n", usual, `in: two columns are named "text"; rename one of them`},
		{"in", ",text,label,\n", usual, "csv delimiter=comma columns=4 label=3 text=2 header=0"},
		{"in", "label,\"text\n", usual, "tsv"},
		{"in", "label,\"text\n", Reading{Format: "csv"}, "in: the first row is malformed: a quoted field has no closing quote within --max_record_bytes"},
		{"in", "\"label,text\n", Reading{Format: "csv"}, "in: the first row is malformed: a quoted field has no closing quote within --max_record_bytes"},
		{"in", "\n\r\ntext,label\na,b\n", usual, "csv delimiter=comma columns=2 label=2 text=1 header=3"},
		{"in", "\n\r\n", Reading{Format: "csv"}, "in: the first 3 bytes have no complete row; the first row must be shorter"},
		{"in", "label,text\ra,b\rc,d\r", usual, `in: the lines end in carriage returns alone; convert the file with: tr '\r' '\n'`},
		{"in", "\xff\xfel\x00,\x00t\x00", Reading{Format: "csv"}, "in: the text is UTF-16, not UTF-8; convert it with: iconv -f UTF-16 -t UTF-8"},
		{"in", "", Reading{Format: "csv"}, "csv delimiter=comma columns=0"},
		{"in", "label,text\n" + strings.Repeat("a,\"b\nc\"\n", 5000), usual, "csv delimiter=comma columns=2 label=1 text=2 header=0"},
		{"in", strings.Repeat("label", 5000) + ",text\n", Reading{Format: "csv"}, "in: the first 16384 bytes have no complete row; the first row must be shorter"},
	} {
		b := []byte(c.text)
		if strings.HasSuffix(c.name, ".gz") {
			b = pack(t, Gzip, b)
		}
		name := save(t, c.name, b)
		files, err := List(t.Context(), []string{name}, c.reading)
		got := ""
		if err != nil {
			got = strings.Replace(err.Error(), name, c.name, 1)
		} else {
			format, _ := formatOf(files[0])
			got = strings.TrimSpace(format.Name() + " " + files[0].Layout)
		}
		if got != c.want {
			t.Errorf("%.60q:\n got %s\nwant %s", c.text, got, c.want)
		}
		if err != nil || got == "tsv" && !strings.Contains(c.text, "\t") {
			continue
		}
		c.reading.LabelOptional = true
		if optional, err := List(t.Context(), []string{name}, c.reading); err != nil || optional[0] != files[0] {
			t.Errorf("%.60q: where labels are optional: %+v, %v", c.text, optional, err)
		}
	}
}

func TestCSVLayoutOfAnotherVersion(t *testing.T) {
	for _, layout := range []string{
		"", "delimiter=comma", "delimiter=colon columns=2 label=1 text=2", "delimiter=comma columns=2 label=3 text=1", "delimiter=comma columns=2 text=0",
		"delimiter=comma columns=2 label=1 text=2 escape=backslash", "delimiter=comma columns=2 label=1 text=x", "delimiter=comma columns=2 label=-7 text=1",
		"delimiter=comma columns=2 label=1 text=2 id=3", "delimiter=comma columns=2 label=1 text=2 group=-1",
	} {
		f := File{Format: "csv", Layout: layout}
		f.Name, f.Size = save(t, "in.csv", []byte("a,b\n")), 4
		if _, err := Open(t.Context(), Range{f, 0, 4}, Options{}); layout != "delimiter=comma" && err == nil {
			t.Errorf("%q passed", layout)
		}
	}
	for _, l := range []csvLayout{
		{columns{0, []int{1}, -1, -1, -1}, ',', 2, false, 0}, {columns{-1, []int{3, 0, 1}, 2, 1, 3}, '\t', 4, true, -1}, {columns{-1, nil, -1, 0, -1}, '|', 1, false, 7},
	} {
		if got, err := parseCSVLayout(File{Layout: l.String()}); err != nil || fmt.Sprint(got) != fmt.Sprint(l) {
			t.Errorf("%s: %+v, %v", l, got, err)
		}
	}
}

func TestTextsOfSeveralColumns(t *testing.T) {
	name := save(t, "in.csv", []byte("kind,title,body\na,One,\"\"\"two\"\" three\"\nb,,x\n"))
	got := readTable(t, name, 5, Reading{LabelColumn: "kind", TextColumns: []string{"body", "title", "3"}})
	if want := []record{{"a", `"two" three One "two" three`}, {"b", "x  x"}}; !slices.Equal(got.records, want) {
		t.Errorf("%q", got.records)
	}
}

func TestWeightColumn(t *testing.T) {
	const text = "n,label,text\n2,a,x\n 0.5 ,b,x\n\"1e3\",a,x\n0,a,x\n,a,x\n-1,a,x\nNaN,a,x\n1e999,a,x\nInf,a,x\ntwo,a,x\n"
	reading := Reading{WeightColumn: "n", MaxRecordBytes: maxRecord}
	files, err := List(t.Context(), []string{save(t, "in.csv", []byte(text))}, reading)
	if err != nil {
		t.Fatal(err)
	}
	var rejected []Reason
	r, err := Open(t.Context(), Range{files[0], 0, files[0].Size}, Options{Reading: reading, Reject: func(r Rejection) { rejected = append(rejected, r.Reason) }})
	if err != nil {
		t.Fatal(err)
	}
	var d Document
	var weights []float64
	for r.Next(&d) {
		weights = append(weights, d.Weight)
	}
	if err := r.Close(); err != nil || !slices.Equal(weights, []float64{2, 1000, 0}) || !slices.Equal(rejected, slices.Repeat([]Reason{BadWeight}, 7)) {
		t.Errorf("%v, %v, %v", weights, rejected, err)
	}
}

// Lines that open quotes, which are read again after a malformed row. In quadratic time this test would take hours.
func TestUnclosedQuotesTakeLinearTimeAndLittleMemory(t *testing.T) {
	const limit = 1 << 20
	for _, line := range []string{
		"a,\"b\n", "x\",y,\"\n", "\"\",\"\n", "a,\"\"\"\n", "\"a\"\"\n", "\",\",\"\n", "\"\"\"\"\"\n", "a,b\n",
	} {
		for _, tail := range []string{"", "\"x"} {
			text := "label,text\n" + line + strings.Repeat("a,\"\"\n", 1000) + strings.Repeat(line, (8<<20)/len(line)) + tail
			name := save(t, "in.csv", []byte(text))
			f := File{Format: "csv", Layout: "delimiter=comma columns=2 label=1 text=2"}
			rows, err := openCSVRows(t.Context(), Range{fileOf(t, name, f), 0, int64(len(text))}, csvLayout{delimiter: ',', width: 2}, Reading{MaxRecordBytes: limit})
			if err != nil {
				t.Fatal(err)
			}
			for ok := true; ok; {
				_, _, ok = rows.next()
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if len(rows.buffer) > 3*limit {
				t.Errorf("%q: a buffer of %d bytes", line, len(rows.buffer))
			}
		}
	}
}

func fileOf(t testing.TB, name string, f File) File {
	t.Helper()
	files, err := List(t.Context(), []string{name}, Reading{Format: "tsv"})
	if err != nil {
		t.Fatal(err)
	}
	f.Info = files[0].Info
	return f
}

func BenchmarkCSV(b *testing.B) {
	prose := strings.Repeat("some words of a document ", 50)
	for name, row := range map[string]string{
		"plain":  "1," + prose + "\n",
		"quoted": "1,\"" + prose + "\"\"and\"\"" + prose + "\"\n",
		"narrow": "\"0\",\"1467810369\",\"Mon Apr 06 22:19:45 PDT 2009\",\"NO_QUERY\",\"someone\",\"a tweet of a hundred bytes, which is short\"\n",
	} {
		text := []byte("header\n" + strings.Repeat(row, (20<<20)/len(row)))
		width := 1 + strings.Count(row, ",") - strings.Count(row, ", ")
		f := File{Format: "csv", Layout: fmt.Sprintf("delimiter=comma columns=%d label=1 text=2", width)}
		f = fileOf(b, save(b, "in.csv", text), f)
		reading := Reading{MaxRecordBytes: 8 << 20}
		b.Run("split/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Split(context.Background(), f, 1<<20, reading); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("read/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r, err := Open(context.Background(), Range{f, 0, f.Size}, Options{Reading: reading})
				if err != nil {
					b.Fatal(err)
				}
				var d Document
				n := 0
				for r.Next(&d) {
					n++
				}
				if err := r.Close(); err != nil || n != (20<<20)/len(row) {
					b.Fatal(n, err)
				}
			}
		})
	}
}
