package corpusio

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestAHeaderIsAnErrorUnlessItIsSaidWhatItIs(t *testing.T) {
	for _, header := range []string{
		"label\ttext", "Label\tText", "sentiment\treview", "\ufeffclass\tsentence", `"label"` + "\t" + `"text"`,
		"target\tdocument\tid", "text\tlabel", "category\ttitle\r",
	} {
		text := header + "\na\tsome words\nb\tother words\n"
		for _, how := range []Compression{Plain, Gzip} {
			for _, size := range []int64{1, 3, 7, 1000} {
				name := save(t, "in", pack(t, how, []byte(text)))
				_, err := readFile(t, name, size, maxRecord)
				var found *HeaderError
				way := "use --header to skip the first line"
				if strings.HasPrefix(header, "text") {
					way = "the columns are swapped"
				}
				if !errors.As(err, &found) || found.File != name || !strings.Contains(err.Error(), way) {
					t.Errorf("%q, %q, ranges of %d: %v", header, how, size, err)
				}
				want := []record{{"a", "some words"}, {"b", "other words"}}
				if got, headers := readWith(t, name, size, Present); !slices.Equal(got, want) || headers != 1 {
					t.Errorf("%q, %q, ranges of %d, --header: %+v, %d headers", header, how, size, got, headers)
				}
				if got, headers := readWith(t, name, size, Absent); len(got) != 3 || headers != 0 {
					t.Errorf("%q, %q, ranges of %d, --header=false: %+v, %d headers", header, how, size, got, headers)
				}
			}
		}
	}
}

func TestDocumentsAreNoHeaders(t *testing.T) {
	for _, line := range []string{"label\tsome text", "class\tclass", "text\tthe text", "1\ttext", "spam\treview", "label\t", "label"} {
		name := save(t, "in", []byte(line+"\nlabel\ttext\n"))
		for _, size := range []int64{1, 1000} {
			if got, err := readFile(t, name, size, maxRecord); err != nil || len(got.records)+len(got.rejections) != 2 {
				t.Errorf("%q: %+v, %v", line, got, err)
			}
		}
	}
}

// readWith reads a file in ranges of a size, given what is known of headers.
func readWith(t *testing.T, name string, size int64, header Header) (records []record, headers int64) {
	t.Helper()
	files, err := List(t.Context(), []string{name}, Reading{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rg := range mustSplit(t, files[0], size) {
		r, err := Open(t.Context(), rg, Options{Reading: Reading{MaxRecordBytes: maxRecord, Header: header}})
		if err != nil {
			t.Fatal(err)
		}
		var d Document
		for r.Next(&d) {
			records = append(records, record{string(d.Label), string(d.Text)})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		headers += r.Skipped().Headers
	}
	return records, headers
}

func TestFirstLabel(t *testing.T) {
	long := strings.Repeat("long ", 20_000)
	for text, want := range map[string]string{
		"\ufeffa\tb\n": "a", "\n\nno tab\n c \td": "c", "none": "", long + "\tx\n": long[:256], strings.Repeat("é", 200) + "\tx": strings.Repeat("é", 128),
	} {
		for _, how := range []Compression{Plain, Gzip, Zstd} {
			files, err := List(t.Context(), []string{save(t, "in", pack(t, how, []byte(text)))}, Reading{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := FirstLabel(t.Context(), files[0], Reading{Header: Unknown}); got != want || err != nil {
				t.Errorf("%.20q, %q: %q, %v", text, how, got, err)
			}
		}
	}
	files, err := List(t.Context(), []string{save(t, "in", []byte("label\ttext\na\tb\n"))}, Reading{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FirstLabel(t.Context(), files[0], Reading{Header: Present}); got != "a" || err != nil {
		t.Errorf("behind a header: %q, %v", got, err)
	}
}
