package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// The README shows the output of the command. Its console blocks and its Python block are run in order, in a folder with
// testdata. A first line … matches any lines. SPARSENB_UPDATE=1 rewrites the README instead.
func TestReadme(t *testing.T) {
	update := os.Getenv("SPARSENB_UPDATE") != ""
	name := filepath.Join(outside.Root(), "README.md")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside.Root(), "testdata"), filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(content), "```")
	for i := 1; i < len(blocks); i += 2 {
		kind, body, _ := strings.Cut(blocks[i], "\n")
		switch kind {
		case "console":
			line, want, _ := strings.Cut(body, "\n")
			command := strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "go run ./cmd/")
			args := strings.Fields(command)
			got := output(t, dir, exec.Command(args[0], args[1:]...))
			if rest, ok := strings.CutPrefix(want, anything); ok {
				first, _, _ := strings.Cut(rest, "\n")
				got = anything + got[max(strings.LastIndex(got, "\n"+first+"\n")+1, 0):]
			}
			if update {
				blocks[i] = kind + "\n" + line + "\n" + got
			} else if got != want {
				t.Errorf("%s\nprints\n%s\nthe README has\n%s", command, got, want)
			}
		case "python":
			t.Run("python", func(t *testing.T) {
				got := output(t, dir, exec.Command(outside.Python(t), "-c", body))
				if want := strings.TrimPrefix(blocks[i+2], "\n"); got != want {
					t.Errorf("the script prints\n%s\nthe README has\n%s", got, want)
				}
				testScores(t, dir, body)
			})
		}
	}
	if update {
		if err := os.WriteFile(name, []byte(strings.Join(blocks, "```")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// testScores runs the README's function on runs with several classes, models, n-grams and stop words. With all features
// selected, its scores equal those of scikit-learn.
func testScores(t *testing.T, dir, readme string) {
	t.Helper()
	var text strings.Builder
	for i, class := range []string{"space", "cars", "food"} {
		for j := range 12 {
			fmt.Fprintf(&text, "%s\tthe w%d of w%d the W%d-w%d of the day é%d\n", class, i*j%5, (i+j)%7, i+2, j%4, i)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "three.tsv"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stop.txt"), []byte("the\nof\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for out, args := range map[string]string{
		"ovr":       "--strategy=ovr",
		"ovo":       "--strategy=ovo",
		"joint":     "--strategy=joint --stop_words=stop.txt",
		"bigrams":   "--strategy=joint --ngrams=1,2 --stop_words=stop.txt",
		"chars":     "--strategy=ovr --analyzer=char_wb --ngrams=2,3",
		"bernoulli": "--strategy=joint --model=bernoulli",
		"one":       "--strategy=ovr --positive=food",
		"buckets":   "--strategy=joint --hash_bits=8",
	} {
		command := strings.Fields("--input=three.tsv --k=3,100% --smoothing=0.5,1 --output=" + out + " " + args)
		output(t, dir, exec.Command("sparsenb", command...))
	}
	if got := output(t, dir, exec.Command(outside.Python(t), "-c", readme+scikitLearn)); !strings.HasSuffix(got, "\nall agree\n") {
		t.Errorf("the script prints %s", got)
	}
}

const scikitLearn = `
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

three = pd.read_csv("three.tsv", sep="\t", names=["label", "text"], quoting=3)
stop = ["the", "of"]
for folder, make, classifier in [
    ("ovr", {}, OneVsRestClassifier(MultinomialNB(alpha=0.5))),
    ("joint", dict(stop_words=stop), MultinomialNB(alpha=0.5)),
    ("bigrams", dict(stop_words=stop, ngram_range=(1, 2)), MultinomialNB(alpha=0.5)),
    ("chars", dict(analyzer="char_wb", ngram_range=(2, 3)), OneVsRestClassifier(MultinomialNB(alpha=0.5))),
    ("bernoulli", dict(binary=True), BernoulliNB(alpha=0.5)),
]:
    counts = CountVectorizer(**make).fit_transform(three.text)
    want = classifier.fit(counts, three.label).predict(counts)
    got = scores(folder, three.text, k=counts.shape[1], smoothing=0.5).idxmax(axis="columns")
    assert list(got) == list(want), (folder, list(got), list(want))
    probabilities = classifier.predict_proba(counts)
    if not folder in ("ovr", "chars"):
        log = scores(folder, three.text, k=counts.shape[1], smoothing=0.5)
        odds = log.sub(log[log.columns[0]], axis="index").to_numpy()
        import numpy as np
        want = np.log(probabilities) - np.log(probabilities[:, :1])
        assert np.allclose(odds, want, atol=1e-8), (folder, odds - want)
for folder in ("ovr", "ovo", "joint", "bigrams", "chars", "bernoulli"):
    for smoothing in (0.5, 1):
        assert scores(folder, three.text, 3, smoothing).shape == (36, 3)
hits = (scores("ovo", three.text, 3).idxmax(axis="columns") == three.label).mean()
assert hits > 0.6, hits
for folder, k, smoothing in [("joint", 4, 1), ("joint", 3, 2), ("one", 3, 1), ("buckets", 3, 1)]:
    try:
        scores(folder, three.text, k, smoothing)
    except ValueError:
        continue
    raise AssertionError((folder, k, smoothing))
print("all agree")
`

func output(t *testing.T, dir string, cmd *exec.Cmd) string {
	t.Helper()
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, stderr.String())
	}
	return string(out)
}

// anything is a first line that matches all lines before the second.
const anything = "…\n"
