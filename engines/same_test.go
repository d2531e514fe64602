package engines

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
	"github.com/parquet-go/parquet-go"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// corpora are trained on every engine, and must give the same bytes on all.
func corpora(t testing.TB) map[string][]string {
	t.Helper()
	return map[string][]string{
		"federalist": hamilton,
		"imdb":       {"--input=" + outside.Shared(t, "data/imdb/train.tsv.gz"), "--k=9,100"},
		"parquet":    {"--input=" + writeParquet(t), "--k=9", "--positive=Hamilton"},
		"json":       {"--input=" + writeJSON(t), "--k=9", "--positive=Hamilton", "--min_df=2", "--max_df=90%"},
		"tfidf":      {hamilton[0], "--k=9", "--positive=Hamilton", "--weights=tfidf"},
	}
}

// others are the other commands that read documents, as corpora.
func others(t testing.TB) map[string][]string {
	t.Helper()
	input := hamilton[0]
	model := locally(t, input, "--positive=Hamilton", "--k=10,100")
	return map[string][]string{
		"predict":   {"predict", input, "--model_dir=" + model, "--explain=3", "--shards=3"},
		"evaluate":  {"evaluate", input, "--model_dir=" + model},
		"transform": {"transform", input, "--model_dir=" + model, "--shards=3"},
		"logistic":  {input, "--positive=Hamilton", "--k=10", "--classifier=logistic"},
		"tune":      {"tune", input, "--k=5,10", "--smoothing=0.1,1", "--folds=3"},
	}
}

// all are all corpora.
func all(t testing.TB) map[string][]string {
	t.Helper()
	list := corpora(t)
	maps.Copy(list, others(t))
	return list
}

// paper is a document of the Federalist Papers.
type paper struct {
	Label string `json:"label" parquet:"label"`
	Text  string `json:"text" parquet:"text"`
}

func papers(t testing.TB) (list []paper) {
	t.Helper()
	content, err := os.ReadFile(strings.TrimPrefix(hamilton[0], "--input="))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		label, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		list = append(list, paper{label, text})
	}
	return list
}

// writeParquet writes the papers as a file of several row groups.
func writeParquet(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[paper](&b, parquet.MaxRowsPerRowGroup(10))
	_, err := w.Write(papers(t))
	if err := cmp.Or(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return saved(t, "papers.parquet", b.Bytes())
}

func writeJSON(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	for _, p := range papers(t) {
		if err := json.NewEncoder(&b).Encode(p); err != nil {
			t.Fatal(err)
		}
	}
	return saved(t, "papers.jsonl", b.Bytes())
}

func saved(t testing.TB, name string, content []byte) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// sameOn trains each corpus on an engine that forgives no failed attempt, and compares.
func sameOn(t *testing.T, engine string, flags []string, corpora map[string][]string) {
	for corpus, args := range corpora {
		t.Run(corpus, func(t *testing.T) {
			want := locally(t, args...)
			got := filepath.Join(t.TempDir(), engine)
			r := publish(t, with(args, flags, to(got))...)
			checkSame(t, got, want)
			if corpus != "tfidf" { // which reads the text twice
				checkReadOnce(t, r, args)
			}
			if r := publish(t, with(args, flags, to(got))...); !strings.Contains(r.stderr, "already published") {
				t.Errorf("the same command again: %s", r.stderr)
			}
		})
	}
}

var bytesRead = regexp.MustCompile(`published .* in .*, ([0-9.]+ .?B) read`)

// checkReadOnce holds that the counters of the job have the size of the input, and not a multiple.
func checkReadOnce(t testing.TB, r result, args []string) {
	t.Helper()
	input := args[slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--input=") })]
	found := bytesRead.FindStringSubmatch(r.stderr)
	if want := sizeOf(t, strings.TrimPrefix(input, "--input=")); found == nil || found[1] != want {
		t.Errorf("%q: want %s read", r.stderr, want)
	}
}

func TestFlinkWithTwoTaskManagers(t *testing.T) {
	sameOn(t, "flink", startFlink(t, 2, 0).flags(2), all(t))
}

func TestFlinkWithThreeTaskManagers(t *testing.T) {
	sameOn(t, "flink", startFlink(t, 3, 0).flags(3), corpora(t))
}

func TestSparkWithTwoWorkers(t *testing.T) {
	sameOn(t, "spark", startSpark(t, 2).flags(), all(t))
}

// sizeOf is the size of a file as the command would show it.
func sizeOf(t testing.TB, name string) string {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return humanize.Bytes(uint64(info.Size()))
}
