package corpusio

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFastTextLines(t *testing.T) {
	for _, c := range []struct {
		line         string
		labels, text string
		reason       Reason
	}{
		{line: "__label__a some text", labels: "a", text: "some text"},
		{line: "  __label__a\t __label__b\x00some  text ", labels: "a,b", text: "some  text "},
		{line: "__label__a __label__b __label__a", labels: "a,b"},
		{line: "__label__a", labels: "a"},
		// labels elsewhere in the line, which fastText takes for labels, too
		{line: "some text __label__a", labels: "a", text: "some text "},
		{line: "__label__b some\t__label__a text", labels: "a,b", text: "some\ttext"},
		{line: "some __label__a __label__b text", labels: "a,b", text: "some text"},
		{line: "__label__a x__label__b __LABEL__c ___label__d", labels: "a", text: "x__label__b __LABEL__c ___label__d"},
		{line: "__label__a__label__b\u00a0c d", labels: "a__label__b\u00a0c", text: "d"},
		{line: strings.Repeat("__label__a ", maxLabels) + "text", labels: "a", text: "text"},
		// rejected
		{line: "no label", reason: NoLabel},
		{line: "x__label__a", reason: NoLabel},
		{line: "__label__ a", reason: EmptyLabel},
		{line: "__label__a text __label__", reason: EmptyLabel},
		{line: "__label__" + strings.Repeat("x", MaxLabelBytes+1) + " text", reason: LongLabel},
		{line: strings.Repeat("__label__a ", maxLabels+1), reason: ManyLabels},
		{line: "__label__a text\r__label__b text", reason: BareReturn},
		{line: "__label__a text\ufeff__label__b text", reason: InnerMark},
	} {
		f := mustList(t, save(t, "in", []byte(c.line)), Reading{Format: "fasttext"})
		got, err := readOutcome(t, f, 1<<40, Reading{MaxRecordBytes: maxRecord})
		if err != nil {
			t.Fatal(err)
		}
		if c.reason != "" {
			if len(got.documents) > 0 || len(got.rejections) != 1 || got.rejections[0].Reason != c.reason || c.reason.Sentence() == string(c.reason) {
				t.Errorf("%.50q: %+v, want %s", c.line, got, c.reason)
			}
		} else if want := (document{0, c.labels, c.text, 1}); len(got.rejections) > 0 || !slices.Equal(got.documents, []document{want}) {
			t.Errorf("%.50q: %+v, want %+v", c.line, got, want)
		}
	}
}

func TestFastTextFilesWithALabel(t *testing.T) {
	f := mustList(t, save(t, "in", []byte("no label\n__label__a __label__b other text\n")), Reading{Format: "fasttext"})
	f.Label = "spam"
	got, err := readOutcome(t, f, 1<<40, Reading{MaxRecordBytes: maxRecord})
	if want := []document{{0, "spam", "no label", 1}, {9, "spam", "other text", 1}}; err != nil || !slices.Equal(got.documents, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFastTextLinesThatEndInReturns(t *testing.T) {
	f := mustList(t, save(t, "in", []byte(strings.Repeat("__label__a text\r", 2000))), Reading{Format: "fasttext"})
	_, err := readOutcome(t, f, 100, Reading{MaxRecordBytes: maxRecord})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), `tr '\r' '\n'`) {
		t.Error(err)
	}
}

const mixedFastText = "\ufeff__label__a first\r\n\n \t\r\n__label__b __label__a second\nno label\n" +
	"__label__long zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\r\n__label__longer zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\n\ufeffthird __label__c\n__label__a last"

func TestFastTextInRangesOfEverySize(t *testing.T) {
	at := func(s string) int64 { return int64(strings.Index(mixedFastText, s)) }
	checkRanges(t, mixedFastText, Reading{MaxRecordBytes: 44}, "", outcome{
		documents: []document{
			{0, "a", "first", 1}, {at("__label__b"), "a,b", "second", 1}, {at("__label__long "), "long", strings.Repeat("z", 30), 1},
			{at("\ufeffthird"), "c", "third ", 1}, {at("__label__a last"), "a", "last", 1},
		},
		rejections: []Rejection{{Offset: at("no label"), Reason: NoLabel}, {Offset: at("__label__longer"), Reason: TooLong}},
		blank:      2,
	})
}

// splitFastText reads a line as fastText's Dictionary::getLine does. Its text has single spaces.
func splitFastText(line string) (labels, words []string) {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(wordSpace, r) }) {
		label, ok := strings.CutPrefix(word, "__label__")
		if label = strings.TrimSpace(label); !ok {
			words = append(words, word)
		} else if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels, words
}

func FuzzFastText(f *testing.F) {
	f.Add([]byte(mixedFastText), uint16(7))
	f.Add([]byte("a\x00__label__b\v__label__\xff __label__"), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, size uint16) {
		if compressionOf(b) != Plain {
			return
		}
		name := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		file := mustListAny(t, name, Reading{Format: "fasttext"})
		got, err := readOutcome(t, file, int64(size)+1, Reading{MaxRecordBytes: maxRecord})
		var corrupt *CorruptError
		if err != nil {
			if !errors.As(err, &corrupt) {
				t.Error(err)
			}
			return
		}
		if whole, err := readOutcome(t, file, 1<<40, Reading{MaxRecordBytes: maxRecord}); err != nil || !got.equal(whole) {
			t.Errorf("%q in ranges of %d: %+v\nas a whole: %+v, %v", b, int(size)+1, got, whole, err)
		}
		for _, d := range got.documents {
			line, _, _ := strings.Cut(string(b[d.offset:]), "\n")
			for strings.HasPrefix(line, "\ufeff") {
				line = line[3:]
			}
			labels, words := splitFastText(line)
			_, gotWords := splitFastText(d.text)
			slices.Sort(labels)
			if strings.Join(labels, ",") != d.labels || !slices.Equal(words, gotWords) {
				t.Errorf("%q: labels %q and words %q, want %q and %q", line, d.labels, gotWords, labels, words)
			}
		}
	})
}
