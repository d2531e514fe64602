package preview

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/corpusio"
)

func take(t *testing.T, p Params, files ...string) *Preview {
	t.Helper()
	p.Reading.MaxRecordBytes = 1 << 20
	var err error
	if p.Files, err = corpusio.List(t.Context(), files, p.Reading); err != nil {
		t.Fatal(err)
	}
	preview, err := Take(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return preview
}

func save(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.tsv")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A corpus whose words follow Zipf's law.
func corpus(documents int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 2, 1<<20)
	var b strings.Builder
	for i := range documents {
		fmt.Fprintf(&b, "class%d\t", i%2)
		for range 100 {
			fmt.Fprintf(&b, "word%d ", zipf.Uint64())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// An estimate from a part of the input is close to the truth.
func TestEstimate(t *testing.T) {
	name := save(t, corpus(20_000))
	whole := take(t, Params{SampleBytes: 1 << 30}, name)
	if !whole.Sample.Whole || whole.Estimate.Documents != 20_000 || len(whole.Problems) > 0 {
		t.Fatalf("%+v", whole)
	}
	part := take(t, Params{SampleBytes: 2 << 20}, name)
	if part.Sample.Whole || part.Sample.Documents > 10_000 {
		t.Errorf("%+v was read", part.Sample)
	}
	near := func(what string, got, want int64) {
		if ratio := float64(got) / float64(want); ratio < 0.7 || ratio > 1.5 {
			t.Errorf("%s: estimated %d, there are %d", what, got, want)
		}
	}
	near("documents", part.Estimate.Documents, whole.Sample.Documents)
	near("features", part.Estimate.Features, whole.Sample.Features)
}

func TestProblems(t *testing.T) {
	ids, texts := "", ""
	for i := range 30 {
		ids += fmt.Sprintf("id%d\tsome text\n", i)
		texts += fmt.Sprintf("%s %d\tspam\n", strings.Repeat("long text ", 200), i)
	}
	for text, want := range map[string]string{
		ids:                                  "a label of their own",
		texts:                                "most labels are longer",
		"a\tx y\nb\tx y\n\n":                 "of the first 2 documents have no features",
		"label\ttext\na\tsome text\n":        "the first line is a header",
		"a\tsome text\na\tmore text\n":       `all documents have the label "a"`,
		"no tab\na\tsome text\nb\tmore text": "1 of 3 records are malformed",
		"\n\n":                               "no documents were found",
		"a\t这部电影非常好看\nb\t剧情拖沓演员很差\n":       "in a script without spaces",
		"Pos\tsome text\npos\tmore text\n": "differ in case",
	} {
		p := take(t, Params{MaxRejected: MaxRejected{"0", func(n, _ int64) bool { return n > 0 }}}, save(t, text))
		if len(p.Problems) == 0 || !strings.Contains(p.Problems[0].Text, want) {
			t.Errorf("%.20q: %+v", text, p.Problems)
		}
	}
	if p := take(t, Params{}, save(t, "a\tsome text\nb\tmore text\n")); len(p.Problems) > 0 {
		t.Errorf("%+v", p.Problems)
	}
}
