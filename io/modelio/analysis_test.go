package modelio

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Options → Analysis → options is the identity, for any analyzer.
func TestAnalysisRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		a := Analyzer{Unit: []string{"word", "char", "char_wb", "unicode", "whitespace", "regex"}[r.IntN(6)], HashBits: r.IntN(2) * r.IntN(33)}
		if a.Unit == "regex" {
			a.TokenPattern = []string{`\w+`, "a:b,c=d"}[r.IntN(2)]
		}
		a.Normalize, a.StripAccents, a.Lowercase = []string{"", "nfc", "nfkc"}[r.IntN(3)], []string{"", StripUnicode}[r.IntN(2)], []string{FullLowercase, KeepCase}[r.IntN(2)]
		a.MinTokenLength = r.IntN(4)
		a.Ngrams[0] = 1 + r.IntN(3)
		a.Ngrams[1] = a.Ngrams[0] + r.IntN(3)
		for range r.IntN(3) {
			a.StopWords = append(a.StopWords, fmt.Sprint("w", r.IntN(100)))
		}
		want := a.Analysis()
		options := want.Options()
		options["k"] = "10" // of others
		got, err := ParseAnalysis(options)
		if err != nil || got != want {
			t.Fatalf("%v is parsed as %+v, %v; want %+v", options, got, err, want)
		}
		delete(options, "k")
		if again := got.Options(); !maps.Equal(again, options) {
			t.Fatalf("%v became %v", options, again)
		}
	}
	if a, err := ParseAnalysis(nil); a != (Analysis{}) || err != nil || len(a.Options()) > 0 {
		t.Errorf("a custom table has the analysis %+v, %v", a, err)
	}
	for name, value := range map[string]string{"ngrams": "2", "hash_bits": "x", "min_token_length": "0"} {
		if a, err := ParseAnalysis(map[string]string{"analyzer": "word", name: value}); err == nil || !strings.HasPrefix(err.Error(), "--"+name+"="+value) {
			t.Errorf("%s=%s: %+v, %v", name, value, a, err)
		}
	}
}

func TestReadManifestChecksVersions(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, ManifestFile)
	for content, want := range map[string]string{
		`{"format_version":1}`:                            "",
		`{"format_version":1,"table_format_version":"1"}`: "",
		`{"format_version":1,"table_format_version":"2"}`: "",
		`{"format_version":1,"table_format_version":"3"}`: "",
		`{}`: name + ": malformed file (unknown manifest format 0)",
		`{"format_version":2,"classes":"of another type"}`:                      name + ": written by a newer version of sparsenb (manifest format 2)",
		`{"format_version":1,"table_format_version":"4"}`:                       name + ": written by a newer version of sparsenb (table format 4)",
		`{"format_version":1,"table_format_version":"new"}`:                     name + `: unknown table format "new"`,
		`{"format_version":1,"classes":[{"label":"b"},{"label":"a"}]}`:          name + `: malformed file (classes: "b" and "a" are not in order)`,
		`{"format_version":1,"classes":[{"label":"a"},{"label":"a"}]}`:          name + ": malformed file (classes: ",
		`{"format_version":1,"classes":"of another type"}`:                      name + ": malformed file",
		`{"format_version":1,"options":{"analyzer":"word","hash_bits":"many"}}`: name + ": malformed file (options: --hash_bits=many",
	} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadManifest(t.Context(), dir)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}
