package engines

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// corpora are trained on every engine, and must give the same bytes on all.
func corpora(t testing.TB) map[string][]string {
	return map[string][]string{
		"federalist": hamilton,
		"imdb":       {"--input=" + outside.Shared(t, "data/imdb/train.tsv.gz"), "--k=9,100"},
	}
}

// sameOn trains each corpus on an engine that forgives no failed attempt, and compares.
func sameOn(t *testing.T, engine string, flags []string) {
	for corpus, args := range corpora(t) {
		t.Run(corpus, func(t *testing.T) {
			want := locally(t, args...)
			got := filepath.Join(t.TempDir(), engine)
			r := publish(t, with(args, flags, to(got))...)
			checkSame(t, got, want)
			checkReadOnce(t, r, args[0])
			if r := publish(t, with(args, flags, to(got))...); !strings.Contains(r.stderr, "already published") {
				t.Errorf("the same command again: %s", r.stderr)
			}
		})
	}
}

var bytesRead = regexp.MustCompile(`published .* in .*, ([0-9.]+ .?B) read`)

// checkReadOnce holds that the counters of the job have the size of the input, and not a multiple.
func checkReadOnce(t testing.TB, r result, input string) {
	t.Helper()
	found := bytesRead.FindStringSubmatch(r.stderr)
	if want := sizeOf(t, strings.TrimPrefix(input, "--input=")); found == nil || found[1] != want {
		t.Errorf("%q: want %s read", r.stderr, want)
	}
}

func TestFlinkWithTwoTaskManagers(t *testing.T) {
	sameOn(t, "flink", startFlink(t, 2, 0).flags(2))
}

func TestFlinkWithThreeTaskManagers(t *testing.T) {
	sameOn(t, "flink", startFlink(t, 3, 0).flags(3))
}

func TestSparkWithTwoWorkers(t *testing.T) {
	sameOn(t, "spark", startSpark(t, 2).flags())
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
