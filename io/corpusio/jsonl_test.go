package corpusio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// document is a copy of a Document.
type document struct {
	offset int64
	labels string // joined by commas
	text   string
	weight float64
}

// outcome is what a file gives.
type outcome struct {
	documents  []document
	rejections []Rejection
	blank      int64
}

// readOutcome reads a file that List found, in ranges of a size.
func readOutcome(t testing.TB, f File, size int64, reading Reading) (o outcome, err error) {
	t.Helper()
	ranges, err := Split(t.Context(), f, size, reading)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ranges {
		reader, err := Open(t.Context(), r, Options{Reading: reading, Reject: func(r Rejection) {
			r.File = ""
			o.rejections = append(o.rejections, r)
		}})
		if err != nil {
			t.Fatal(err)
		}
		var d Document
		for reader.Next(&d) {
			labels := string(bytes.Join(append([][]byte{d.Label}, d.MoreLabels...), []byte(",")))
			o.documents = append(o.documents, document{d.Offset, labels, string(d.Text), d.Weight})
		}
		if err := reader.Close(); err != nil {
			return o, err
		}
		o.blank += reader.Skipped().Blank
	}
	return o, nil
}

func (o outcome) equal(p outcome) bool {
	return slices.Equal(o.documents, p.documents) && slices.Equal(o.rejections, p.rejections) && o.blank == p.blank
}

func mustList(t testing.TB, name string, reading Reading) File {
	t.Helper()
	files, err := List(t.Context(), []string{name}, reading)
	if err != nil {
		t.Fatal(err)
	}
	return files[0]
}

// readRecord reads a line with the label in a.b and the texts in t and u.
func readRecord(t testing.TB, line []byte) (o outcome) {
	t.Helper()
	const layout = `{"label":["a","b"],"text":[["t"],["u"]],"weight":["w"]}`
	name := save(t, "in", line)
	f := mustList(t, name, Reading{Format: "tsv", MaxRecordBytes: maxRecord})
	f.Format, f.Layout = "jsonl", layout
	o, err := readOutcome(t, f, 1<<40, Reading{MaxRecordBytes: maxRecord})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestJSONRecords(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		record       string
		labels, text string
		reason       Reason
	}{
		{record: `{"a":{"b":"x"},"t":"one","u":"two","w":1}`, labels: "x", text: "one two"},
		{record: " {\t\"w\" : 1 , \"t\":\"one\",\"u\":\"\",\"a\":{\"c\":[1,{\"b\":3}],\"b\":\" x\\n\"}}\t ", labels: "x", text: "one "},
		{record: `{"a":{"b":1.50},"t":"","w":1}`, labels: "1.50"},
		{record: `{"a":{"b":-0e+2},"t":"","w":1}`, labels: "-0e+2"},
		{record: `{"a":{"b":true},"t":7,"u":false,"w":1}`, labels: "true", text: "7 false"},
		{record: `{"a":{"b":["x","y",2,null,"x"," y "]},"t":["one","two",null,3],"u":"four","w":1}`, labels: "2,x,y", text: "one two 3 four"},
		{record: `{"a":{"b":"x"},"t":[],"w":1}`, labels: "x"},
		{record: `{"a":{"b":"x"},"u":"two","w":1}`, labels: "x", text: "two"},
		{record: `{"a":{"b":"x"},"t":null,"u":"two","w":1}`, labels: "x", text: "two"},
		// escapes
		{record: `{"a":{"b":"\u00e9\uD834\udd1E"},"t":"\"\\\/\b\f\n\r\t","w":1}`, labels: "é𝄞", text: "\"\\/\b\f\n\r\t"},
		{record: `{"a":{"b":"x"},"\u0074":"\ud834","u":"\udd1e\ud834\ud834\udd1e\ud834x\ud834\u0041","w":1}`, labels: "x", text: "\xff \xff\xff𝄞\xffx\xffA"},
		{record: "{\"a\":{\"b\":\"x\"},\"t\":\"\xff\xe2\x82 é\",\"w\":1}", labels: "x", text: "\xff\xe2\x82 é"},
		// of duplicate keys the last one counts
		{record: `{"a":{"b":"x"},"t":"one","t":"two","a":{"b":"y"},"w":1}`, labels: "y", text: "two"},
		{record: `{"a":{"b":"x"},"t":"one","a":{},"w":1}`, reason: NoLabel},
		{record: `{"a":{"b":"x"},"t":"one","a":"y","w":1}`, reason: NoLabel},
		{record: `{"a":{"b":"x"},"t":"one","t":null,"w":1}`, reason: NoText},
		// labels
		{record: `{"t":"one","w":1}`, reason: NoLabel},
		{record: `{"a":null,"t":"one","w":1}`, reason: NoLabel},
		{record: `{"a":{"b":null},"t":"one","w":1}`, reason: NoLabel},
		{record: `{"a":{"b":[]},"t":"one","w":1}`, reason: NoLabel},
		{record: `{"a":{"b":[null]},"t":"one","w":1}`, reason: NoLabel},
		{record: `{"a":{"b":[` + strings.Repeat(`"x",`, maxLabels-1) + `"y"]},"t":"one","w":1}`, labels: "x,y", text: "one"},
		{record: `{"a":{"b":[` + strings.Repeat(`"x",`, maxLabels) + `"y"]},"t":"one","w":1}`, reason: ManyLabels},
		{record: `{"a":{"b":{}},"t":"one","w":1}`, reason: BadLabel},
		{record: `{"a":{"b":[["x"]]},"t":"one","w":1}`, reason: BadLabel},
		{record: `{"a":{"b":" "},"t":"one","w":1}`, reason: EmptyLabel},
		{record: `{"a":{"b":["x",""]},"t":"one","w":1}`, reason: EmptyLabel},
		{record: `{"a":{"b":"\u0000"},"t":"one","w":1}`, reason: NulLabel},
		{record: `{"a":{"b":"` + strings.Repeat("x", MaxLabelBytes+1) + `"},"t":"one","w":1}`, reason: LongLabel},
		// texts
		{record: `{"a":{"b":"x"},"w":1}`, reason: NoText},
		{record: `{"a":{"b":"x"},"t":null,"w":1}`, reason: NoText},
		{record: `{"a":{"b":"x"},"t":{"b":"one"},"w":1}`, reason: BadText},
		{record: `{"a":{"b":"x"},"t":["one",{}],"w":1}`, reason: BadText},
		// weights
		{record: `{"a":{"b":"x"},"t":"one"}`, reason: BadWeight},
		{record: `{"a":{"b":"x"},"t":"one","w":-1}`, reason: BadWeight},
		{record: `{"a":{"b":"x"},"t":"one","w":"heavy"}`, reason: BadWeight},
		{record: `{"a":{"b":"x"},"t":"one","w":[1]}`, reason: BadWeight},
		{record: `{"a":{"b":"x"},"t":"one","w":1e999}`, reason: BadWeight},
		// not an object, or not JSON
		{record: `["x","one"]`, reason: NotObject},
		{record: `"x"`, reason: NotObject},
		{record: `null`, reason: NotObject},
		{record: `{"a":{"b":"x"},"t":"one","w":1} {}`, reason: AfterJSON},
		{record: `{"a":{"b":"x"},"t":"one","w":1},`, reason: AfterJSON},
		{record: `{"a":{"b":"x"},"t":"one","w":1`, reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":"one","w":1,}`, reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":"one" "w":1}`, reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":'one',"w":1}`, reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":"one","w":NaN}`, reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":"\x41","w":1}`, reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":"\ud83","w":1}`, reason: NotJSON},
		{record: "{\"a\":{\"b\":\"x\"},\"t\":\"tab\there\",\"w\":1}", reason: NotJSON},
		{record: `{"a":{"b":"x"},"t":"one","w":1,"deep":` + deep(9_999) + `}`, labels: "x", text: "one"},
		{record: `{"a":{"b":"x"},"t":"one","w":1,"deep":` + deep(10_000) + `}`, reason: NotJSON},
		{record: `{"a":` + deep(100_000) + `}`, reason: NotJSON},
	} {
		shown := fmt.Sprintf("%.100s", c.record)
		got := readRecord(t, []byte(c.record))
		if c.reason != "" {
			if len(got.documents) > 0 || len(got.rejections) != 1 || got.rejections[0].Reason != c.reason {
				t.Errorf("%s: %+v, want %s", shown, got, c.reason)
			}
			if c.reason.Sentence() == string(c.reason) {
				t.Errorf("%s has no sentence", c.reason)
			}
			continue
		}
		if want := (document{0, c.labels, c.text, 1}); len(got.rejections) > 0 || !slices.Equal(got.documents, []document{want}) {
			t.Errorf("%s: %+v, want %+v", shown, got, want)
		}
	}
	for weight, want := range map[string]float64{"0": 0, "25": 25, `"1e3"`: 1000} {
		if got := readRecord(t, []byte(`{"a":{"b":"x"},"t":"","w":`+weight+`}`)); len(got.documents) != 1 || got.documents[0].weight != want {
			t.Errorf("weight %s: %+v", weight, got)
		}
	}
}

// Lines that take a parser with recursion, or one that looks at names again and again, too much of stack or time.
func TestHostileJSON(t *testing.T) {
	const size = 2 << 20
	name := strings.Repeat("n", 800)
	for _, unit := range []string{"[", `{"a":`, `{"a":[`, `{"` + name + `":`, `{"t":["x",`, "{", `\`, `"\u`, `{"a":1},`, `["`} {
		line := `{"t":[` + strings.Repeat(unit, size/len(unit))
		f := mustList(t, save(t, "in", []byte(line)), Reading{Format: "tsv", MaxRecordBytes: 2 * size})
		f.Format, f.Layout = "jsonl", `{"label":["a"],"text":[["t"]]}`
		got, err := readOutcome(t, f, 1<<40, Reading{MaxRecordBytes: 2 * size})
		if err != nil || len(got.documents) > 0 || len(got.rejections) != 1 || got.rejections[0].Reason != NotJSON {
			t.Errorf("%.20s: %d documents, %+v, %v", unit, len(got.documents), got.rejections, err)
		}
		if _, err := List(t.Context(), []string{f.Name}, Reading{Format: "jsonl", MaxRecordBytes: 2 * size}); err != nil {
			t.Errorf("%.20s: %v", unit, err)
		}
	}
}

func TestJSONKeys(t *testing.T) {
	for _, c := range []struct {
		content string
		reading Reading
		label   string // of the file
		want    string // the layout, or part of the error
	}{
		{content: `{"text":"x","label":1}`, want: `{"label":["label"],"text":[["text"]]}`},
		{content: `{"id":7,"Review":"x","Sentiment":1,"title":"y"}`, want: `{"label":["Sentiment"],"text":[["Review"]]}`},
		{content: "\ufeff\n \nnot JSON\n{\"topic\":null,\"stars\":4,\"body\":\"x\"}\n{\"label\":1,\"text\":\"\"}", want: `{"label":["stars"],"text":[["body"]]}`},
		{content: `{"text":"x"}`, label: "spam", want: `{"text":[["text"]]}`},
		{content: `{"text":"x","label":1}`, label: "spam", reading: Reading{LabelColumn: "no such key"}, want: `{"text":[["text"]]}`},
		{
			content: `{"meta":{"label":1,"x":{"y":2}},"title":"x","body":"y"}`, reading: Reading{LabelColumn: "meta.label", TextColumns: []string{"title", "body", "meta.x.y"}},
			want: `{"label":["meta","label"],"text":[["title"],["body"],["meta","x","y"]]}`,
		},
		{content: `{"a.b":1,"a":{"b":2},"t":""}`, reading: Reading{LabelColumn: "a.b", TextColumns: []string{"t"}}, want: `{"label":["a.b"],"text":[["t"]]}`},
		{content: `{"a":{"b":{"c":2},"b.c":1},"t":""}`, reading: Reading{LabelColumn: "a.b.c", TextColumns: []string{"t"}}, want: `{"label":["a","b.c"],"text":[["t"]]}`},
		{content: `{"a.b":{"c":1},"a":{"b":{"d":2}},"t":""}`, reading: Reading{LabelColumn: "a.b.d", TextColumns: []string{"t"}}, want: `{"label":["a","b","d"],"text":[["t"]]}`},
		{content: `{"t":"x","w":2,"label":1}`, reading: Reading{TextColumns: []string{"t"}, WeightColumn: "w"}, want: `{"label":["label"],"text":[["t"]],"weight":["w"]}`},
		// a key of the flags may be missing in the first record
		{content: "{\"text\":\"x\"}\n{}\n{\"text\":\"x\",\"m\":{\"l\":1}}", reading: Reading{LabelColumn: "m.l"}, want: `{"label":["m","l"],"text":[["text"]]}`},
		{content: `{"` + strings.Repeat("x", 20_000) + `":1,"label":1,"text":""}`, want: `{"label":["label"],"text":[["text"]]}`},
		{content: "", want: ""},
		{content: "\n \n", want: ""},
		{content: "{\"text\":\nnothing else", want: ""},
		// errors
		{content: `{"id":1,"overall":5,"reviewText":""}`, want: "no key of the first record is named as labels usually are; name it with --label_column; the keys are id, overall, reviewText"},
		{content: `{"label":1,"reviewText":""}`, want: "named as texts usually are; name it with --text_column; the keys are label, reviewText"},
		{content: `{"label":1,"text":""}`, reading: Reading{LabelColumn: "lable"}, want: `the first records have no key "lable" (--label_column); the keys of the first one are label, text`},
		{content: `{"label":1,"text":""}`, reading: Reading{TextColumns: []string{"text", "2"}}, want: `no key "2" (--text_column)`},
		{content: `{"label":1,"text":""}`, reading: Reading{WeightColumn: "label.x"}, want: `no key "label.x" (--weight_column)`},
		{content: `{"label":1,"text":""}`, reading: Reading{TextColumns: []string{"label"}}, want: `key "label" is both label and text`},
		{content: "[{\"label\":1,\n\"text\":\"\"}]", want: "is a JSON array, not one object per line; convert it with: jq -c '.[]'"},
		{content: "{\n  \"label\": 1\n}\n", want: "is pretty-printed JSON, not one object per line; convert it with: jq -c ."},
		{content: "{\"label\":1,\"text\":\"\"}\r{\"label\":1,\"text\":\"\"}\r", want: "the lines end in carriage returns alone"},
		{content: strings.Repeat("x\n", 1001) + `{"label":1,"text":""}`, want: "none of the first 1000 lines is a JSON object"},
	} {
		c.reading.MaxRecordBytes = maxRecord
		for _, how := range []Compression{Plain, Gzip} {
			f := File{Compression: how, Label: c.label}
			f.Name = save(t, "in", pack(t, how, []byte(c.content)))
			f.Size = mustList(t, f.Name, Reading{Format: "tsv"}).Size
			head, err := readHead(t.Context(), f, Reading{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := jsonl{}.Describe(t.Context(), Head{f, head}, c.reading)
			var layout *LayoutError
			if strings.HasPrefix(c.want, "{") || c.want == "" {
				if got != c.want || err != nil {
					t.Errorf("%.100s: %s, %v", c.content, got, err)
				}
			} else if !errors.As(err, &layout) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), f.Name+": ") {
				t.Errorf("%.100s: %s, %v, want %s", c.content, got, err, c.want)
			}
		}
	}
}

func TestDetection(t *testing.T) {
	for content, want := range map[string]string{
		`{"label":"a","text":""}`:                                       "jsonl",
		"\ufeff \n\n{\"label\":\"a\",\"text\":\"\"}\n{bad":              "jsonl",
		"{\"label\":\"a\",\"text\":\n{\"label\":\"a\",\"text\":\"\"}\n": "jsonl",
		`{"text":"` + strings.Repeat("x", 20_000) + `","label":1}`:      "jsonl",
		"{x}\tsome text\n":        "tsv",
		"{\"a\":1}x\n":            "tsv",
		"{\"a\":1}\tsome text\n":  "tsv",
		"{\"a\":1},\n{\"a\":1}\n": "jsonl",
		"{\"a\":1}{\"a\":1}\n":    "jsonl",
		"{\"a\"}\tsome text\n":    "tsv",
		"[1]\tsome text\n":        "tsv",
		"[{\tsome text\n":         "tsv",
		"__label__a some text\n":  "fasttext",
		"\n\n __label__a\ttext":   "fasttext",
		"__label__ a some text\n": "tsv",
		"a\t__label__b\n":         "tsv",
		"":                        "tsv",
	} {
		h := Head{Bytes: []byte(content)[:min(len(content), headBytes)]}
		i := slices.IndexFunc(formats, func(f Format) bool { return f.Detect(h, Reading{}) })
		if got := formats[i].Name(); got != want {
			t.Errorf("%.50q: %s, want %s", content, got, want)
		}
		i = slices.IndexFunc(formats, func(f Format) bool { return f.Detect(h, Reading{LabelOptional: true}) })
		if want == "tsv" && !strings.Contains(content, "\t") {
			want = "text"
		}
		if got := formats[i].Name(); got != want {
			t.Errorf("%.50q, where labels are optional: %s, want %s", content, got, want)
		}
	}
	if (fastText{}).Detect(Head{Bytes: []byte("one\n__label__a two\n")}, Reading{}) {
		t.Error("where labels are needed, a file of fastText starts with one")
	}
	for n := 1; n <= len(mixedJSON); n++ { // the head may end anywhere
		if got := jsonShape([]byte(mixedJSON)[:n]); n > 3 && got != jsonObjects {
			t.Errorf("%q: shape %d", mixedJSON[:n], got)
		}
	}
	for from, want := range map[LabelFrom]string{FromFolder: "file", FromFile: "text"} {
		if f := mustList(t, save(t, "in", []byte("some text\n")), Reading{LabelFrom: from}); f.Format != want {
			t.Errorf("%s: %q, want %s", from, f.Format, want)
		}
		if f := mustList(t, save(t, "in", []byte("__label__a text\n")), Reading{LabelFrom: from}); f.Format != "fasttext" {
			t.Errorf("%s: %q, want fasttext", from, f.Format)
		}
	}
}

const mixedJSON = "\ufeff{\"label\":\"a\",\"text\":\"first\"}\r\n{\"text\":\"second\",\"label\":[\"b\",\"c\",\"b\"]}\n\n \t\r\n" +
	"not JSON\n{\"label\":null,\"text\":\"x\"}\n[]\n{\"label\":1,\"text\":\"\\u00e9\\n\"}{}\n" +
	"{\"label\":\"long\",\"text\":\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"}\r\n{\"label\":\"longer\",\"text\":\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"}\n" +
	"\ufeff{\"label\":true,\"text\":[\"third\",\"part\"]}\n{\"label\":\"a\",\"text\":\"last\"}"

func TestJSONLinesInRangesOfEverySize(t *testing.T) {
	want := outcome{
		documents: []document{
			{0, "a", "first", 1}, {33, "b,c", "second", 1}, {-1, "long", strings.Repeat("z", 39), 1}, {-1, "true", "third part", 1}, {-1, "a", "last", 1},
		},
		blank: 2,
	}
	at := 0
	for i := range want.documents[2:] {
		at = strings.Index(mixedJSON, []string{`{"label":"long",`, "\ufeff{\"label\":true", `{"label":"a","text":"last"`}[i])
		want.documents[i+2].offset = int64(at)
	}
	for _, r := range []struct {
		text   string
		reason Reason
	}{{"not JSON", NotJSON}, {`{"label":null`, NoLabel}, {"[]", NotObject}, {`{"label":1`, AfterJSON}, {`{"label":"longer"`, TooLong}} {
		want.rejections = append(want.rejections, Rejection{Offset: int64(strings.Index(mixedJSON, r.text)), Reason: r.reason})
	}
	checkRanges(t, mixedJSON, Reading{MaxRecordBytes: 67}, "", want)
}

// checkRanges checks that a file gives what it should, in ranges of every size and compressed.
func checkRanges(t *testing.T, content string, reading Reading, label string, want outcome) {
	t.Helper()
	f := mustList(t, save(t, "in", []byte(content)), reading)
	f.Label = label
	for size := int64(1); size <= f.Size+1; size++ {
		if got, err := readOutcome(t, f, size, reading); err != nil || !got.equal(want) {
			t.Fatalf("ranges of %d bytes: %v\n got %+v\nwant %+v", size, err, got, want)
		}
	}
	for _, how := range []Compression{Gzip, Zstd, Bzip2} {
		f := mustList(t, save(t, "in", pack(t, how, []byte(content[:20]), []byte(content[20:]))), reading)
		f.Label = label
		if got, err := readOutcome(t, f, 10, reading); err != nil || !got.equal(want) {
			t.Fatalf("%s: %v\n got %+v\nwant %+v", how, err, got, want)
		}
	}
}

func TestUTF16JSONIsRefused(t *testing.T) {
	f := mustList(t, save(t, "in", []byte("\xff\xfe{\x00}\x00\n\x00")), Reading{Format: "jsonl", MaxRecordBytes: maxRecord})
	_, err := readOutcome(t, f, 4, Reading{MaxRecordBytes: maxRecord})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "iconv") {
		t.Error(err)
	}
}

// expectRecord reads a record with encoding/json.
func expectRecord(line []byte) (labels, text string, reason Reason) {
	if !json.Valid(line) {
		return "", "", NotJSON
	}
	var record map[string]json.RawMessage
	if json.Unmarshal(line, &record) != nil || record == nil {
		return "", "", NotObject
	}
	var outer map[string]json.RawMessage
	var list []any
	decode := func(raw json.RawMessage, into any) bool {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		return raw != nil && d.Decode(into) == nil
	}
	scalars := func(raw json.RawMessage) (all []string, isList, ok bool) {
		var value any
		if !decode(raw, &value) || value == nil {
			return nil, false, true
		}
		if list, isList = value.([]any); !isList {
			list = []any{value}
		}
		for _, element := range list {
			switch element := element.(type) {
			case nil:
			case string, bool, json.Number:
				all = append(all, fmt.Sprint(element))
			default:
				return nil, isList, false
			}
		}
		return all, isList, true
	}
	decode(record["a"], &outer)
	all, _, ok := scalars(outer["b"])
	if !ok {
		return "", "", BadLabel
	}
	if len(all) == 0 {
		return "", "", NoLabel
	}
	var distinct []string
	for _, label := range all {
		if label = strings.TrimSpace(label); !slices.Contains(distinct, label) {
			distinct = append(distinct, label)
		}
	}
	var texts []string
	empty := true
	for _, key := range []string{"t", "u"} {
		some, isList, ok := scalars(record[key])
		if !ok {
			return "", "", BadText
		}
		texts, empty = append(texts, some...), empty && !isList && len(some) == 0
	}
	if empty {
		return "", "", NoText
	}
	for _, label := range distinct {
		if reason := checkLabel([]byte(label)); reason != "" {
			return "", "", reason
		}
	}
	return strings.Join(distinct, ","), strings.Join(texts, " "), ""
}

func FuzzJSONRecord(f *testing.F) {
	for _, record := range []string{
		`{"a":{"b":"x"},"t":"one","u":"two"}`, `{"a":{"b":["x",1,null]},"t":["one",true],"u":null}`, `{"a":{"b":"\ud834\udd1e"},"t":"\ud834\u0041"}`,
		`{"a":{"b":"x"},"a":{},"t":"one"} `, `[]`, `{"a":{"b":1e5},"t":{}}`, `{"a" : {"c":{"b":2} , "b" : "x"},"\u0074":"one"}{}`,
	} {
		f.Add([]byte(record))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r := newJSONRecord(jsonLayout{Label: []string{"a", "b"}, Texts: [][]string{{"t"}, {"u"}}})
		reason := r.read(line)
		var labels, text string
		if reason == "" {
			var label, d []byte
			var more [][]byte
			if label, more, reason = r.labels(); reason == "" {
				labels = string([]rune(string(bytes.Join(append([][]byte{label}, more...), []byte(",")))))
				if d, reason = r.text(); reason == "" {
					text = string([]rune(string(d))) // with U+FFFD for each invalid byte, as encoding/json replaces them
					for _, label := range append(more, label) {
						if reason == "" {
							reason = checkLabel(label)
						}
					}
				}
			}
		}
		if reason != "" {
			labels, text = "", ""
		}
		wantLabels, wantText, want := expectRecord(line)
		if (reason == AfterJSON || reason == NotObject) && want == NotJSON { // of more than one value
			reason = want
		}
		if reason == ManyLabels {
			return
		}
		if reason != want || labels != wantLabels || text != wantText {
			t.Errorf("%q: labels %q, text %q, %q; want %q, %q, %q", line, labels, text, reason, wantLabels, wantText, want)
		}
	})
}

func FuzzJSONLines(f *testing.F) {
	f.Add([]byte(mixedJSON), uint16(7), "", "")
	f.Add([]byte("{\"a\":{\"b\":1},\"c\":[\"x\"]}\n{\n"), uint16(1), "a.b", "c")
	f.Fuzz(func(t *testing.T, b []byte, size uint16, label, text string) {
		if compressionOf(b) != Plain {
			return
		}
		reading := Reading{Format: "jsonl", LabelColumn: label, MaxRecordBytes: 68}
		if text != "" {
			reading.TextColumns = strings.Split(text, ",")
		}
		files, err := List(t.Context(), []string{save(t, "in", b)}, reading)
		if err != nil {
			var layout *LayoutError
			var corrupt *CorruptError
			if !errors.As(err, &layout) && !errors.As(err, &corrupt) || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
			return
		}
		got, err := readOutcome(t, files[0], int64(size)+1, reading)
		whole, wholeErr := readOutcome(t, files[0], 1<<40, reading)
		if !got.equal(whole) || (err == nil) != (wholeErr == nil) {
			t.Errorf("%q in ranges of %d: %+v, %v\nas a whole: %+v, %v", b, int(size)+1, got, err, whole, wholeErr)
		}
	})
}

// mustListAny lists a file that may begin with the magic number of a format that is not supported.
func mustListAny(t testing.TB, name string, reading Reading) File {
	t.Helper()
	files, err := List(t.Context(), []string{name}, reading)
	if err != nil {
		t.Skip(err)
	}
	return files[0]
}
