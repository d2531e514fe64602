package corpusio

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestPlainTextInRangesOfEverySize(t *testing.T) {
	const content = "\ufefffirst line\r\n\n \t \nlabel\ttext\n12345678901234567890123456789\r\n123456789012345678901234567890\n\ufeff{\"a\":1}\rx\nlast"
	at := func(s string) int64 { return int64(strings.Index(content, s)) }
	checkRanges(t, content, Reading{Format: "text", LabelFrom: FromFile, MaxRecordBytes: 29}, "spam", outcome{
		documents: []document{
			{0, "spam", "first line", 1}, {at("label\t"), "spam", "label\ttext", 1}, {at("1234"), "spam", "12345678901234567890123456789", 1},
			{at("\ufeff{"), "spam", "{\"a\":1}\rx", 1}, {at("last"), "spam", "last", 1},
		},
		rejections: []Rejection{{Offset: at("12345678901234567890123456789\r\n") + 31, Reason: TooLong}},
		blank:      2,
	})
}

func TestTextWhoseLinesEndInReturns(t *testing.T) {
	f := mustList(t, save(t, "in", []byte(strings.Repeat("some text\r", 20))), Reading{LabelFrom: FromFile})
	f.Label = "spam"
	_, err := readOutcome(t, f, 7, Reading{MaxRecordBytes: maxRecord})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), `tr '\r' '\n'`) {
		t.Error(err)
	}
}

func TestWholeFiles(t *testing.T) {
	for content, want := range map[string]outcome{
		"one\ntwo\r\n\nthree\t{":       {documents: []document{{0, "spam", "one\ntwo\r\n\nthree\t{", 1}}},
		"\ufeff\ufeffone\ufeff":        {documents: []document{{0, "spam", "one\ufeff", 1}}},
		"\n":                           {documents: []document{{0, "spam", "\n", 1}}},
		"":                             {},
		"\ufeff":                       {blank: 1},
		strings.Repeat("x", 1000):      {documents: []document{{0, "spam", strings.Repeat("x", 1000), 1}}},
		strings.Repeat("x", 1001):      {rejections: []Rejection{{Reason: LongFile}}},
		strings.Repeat("x\n", 500_000): {rejections: []Rejection{{Reason: LongFile}}},
	} {
		for _, how := range []Compression{Plain, Gzip, Zstd, Bzip2} {
			reading := Reading{LabelFrom: FromFolder, MaxRecordBytes: 1000}
			f := mustList(t, save(t, "in", pack(t, how, []byte(content))), reading)
			f.Label = "spam"
			got, err := readOutcome(t, f, 3, reading)
			if how != Plain && content == "" {
				want.blank = 1
			}
			if err != nil || !got.equal(want) || f.Format != "file" {
				t.Errorf("%.30q, %q: %s, %+v, %v", content, how, f.Format, got, err)
			}
			ranges := mustSplit(t, f, 3)
			if n := min(f.Size, 1); len(ranges) != int(n) || n == 1 && ranges[0] != (Range{f, 0, f.Size}) {
				t.Errorf("%.30q, %q: %+v", content, how, ranges)
			}
		}
	}
	f := mustList(t, save(t, "in", []byte("\xfe\xffsome text")), Reading{LabelFrom: FromFolder})
	_, err := readOutcome(t, f, 3, Reading{MaxRecordBytes: 1000})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "iconv") {
		t.Error(err)
	}
}

func TestTextWithoutALabel(t *testing.T) {
	for _, format := range []string{"text", "file"} {
		_, err := List(t.Context(), []string{save(t, "in", []byte("some text\n"))}, Reading{Format: format})
		var layout *LayoutError
		if !errors.As(err, &layout) || !strings.Contains(err.Error(), "--label_from=folder, --label_from=file, or --class=LABEL=GLOB") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// One corpus gives the same documents in every format.
func TestFormatsGiveTheSameDocuments(t *testing.T) {
	texts := map[string][]string{"a": {"upon the subject", "", "été \"quoted\" \\ and {braces}", "\xff invalid"}, "b": {"whilst", "a,b;c 'd'", "tab\there"}}
	var tsv, jsonl, fast strings.Builder
	var want, plain []document
	for _, label := range []string{"a", "b"} {
		lines := ""
		for _, text := range texts[label] {
			want = append(want, document{0, label, text, 1})
			tsv.WriteString(label + "\t" + text + "\n")
			fast.WriteString("__label__" + label + " " + text + "\n")
			escaped := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\t", `\t`).Replace(text)
			jsonl.WriteString(`{"text":"` + escaped + `","label":"` + label + `"}` + "\n")
			if lines += text + "\n"; text != "" { // an empty line of plain text is no document
				plain = append(plain, document{0, label, text, 1})
			}
			f := mustList(t, save(t, "in", []byte(text)), Reading{LabelFrom: FromFolder})
			f.Label = label
			if text != "" {
				checkDocuments(t, "file", f, []document{{0, label, text, 1}})
			}
		}
		f := mustList(t, save(t, "in", []byte(lines)), Reading{LabelFrom: FromFile})
		f.Label = label
		checkDocuments(t, "text", f, slices.DeleteFunc(slices.Clone(plain), func(d document) bool { return d.labels != label }))
	}
	checkDocuments(t, "", mustList(t, save(t, "in", []byte(tsv.String())), Reading{}), want)
	checkDocuments(t, "jsonl", mustList(t, save(t, "in", []byte(jsonl.String())), Reading{}), want)
	checkDocuments(t, "fasttext", mustList(t, save(t, "in", []byte(fast.String())), Reading{}), want)
}

func checkDocuments(t *testing.T, format string, f File, want []document) {
	t.Helper()
	got, err := readOutcome(t, f, 5, Reading{MaxRecordBytes: maxRecord})
	for i := range got.documents {
		got.documents[i].offset = 0
	}
	if err != nil || f.Format != format || !slices.Equal(got.documents, want) {
		t.Errorf("%s as %q: %+v, %v\nwant %+v", format, f.Format, got, err, want)
	}
	if f.Label != "" {
		return
	}
	reading := Reading{MaxRecordBytes: maxRecord, LabelOptional: true}
	optional, err := readOutcome(t, mustList(t, f.Name, reading), 5, reading)
	for i := range optional.documents {
		optional.documents[i].offset = 0
	}
	if err != nil || !slices.Equal(optional.documents, want) {
		t.Errorf("%s, where labels are optional: %+v, %v\nwant %+v", format, optional, err, want)
	}
}

func FuzzPlainText(f *testing.F) {
	f.Add([]byte("\ufefffirst\r\n\n \nlast\r"), uint16(3))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		if compressionOf(b) != Plain {
			return
		}
		name := save(t, "in", b)
		for _, format := range []string{"text", "file"} {
			file := mustListAny(t, name, Reading{Format: format, LabelFrom: FromFile})
			file.Label = "spam"
			got, err := readOutcome(t, file, int64(size)+1, Reading{MaxRecordBytes: 68})
			var corrupt *CorruptError
			if err != nil {
				if !errors.As(err, &corrupt) {
					t.Error(err)
				}
				continue
			}
			n := 0
			for _, line := range strings.Split(string(b), "\n") {
				if strings.TrimSpace(strings.TrimLeft(line, "\ufeff")) != "" {
					n++
				}
			}
			if format == "file" {
				n = min(1, len(strings.TrimLeft(string(b), "\ufeff")))
			}
			if len(got.documents)+len(got.rejections) != n {
				t.Errorf("%s, %q in ranges of %d: %+v, want %d", format, b, int(size)+1, got, n)
			}
		}
	})
}
