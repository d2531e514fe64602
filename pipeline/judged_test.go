package pipeline

import (
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// A verdict applies to all concurrent attempts at a run, and to no later one.
func TestJudged(t *testing.T) {
	verdict := func(run, fingerprint string) *modelio.Verdict {
		return &modelio.Verdict{Run: run, Fingerprint: fingerprint}
	}
	for what, c := range map[string]struct {
		verdict, before *modelio.Verdict
		want            bool
	}{
		"none":                              {nil, nil, false},
		"ours":                              {verdict("a", "f"), nil, true},
		"ours, after an older one":          {verdict("a", "f"), verdict("old", "f"), true},
		"of an attempt at the same time":    {verdict("b", "f"), nil, true},
		"of that, after an older one":       {verdict("b", "f"), verdict("old", "f"), true},
		"an older one":                      {verdict("old", "f"), verdict("old", "f"), false},
		"of another run":                    {verdict("c", "g"), nil, false},
		"of a template that is run again":   {verdict("a", "f"), verdict("a", "f"), true},
		"of a version without fingerprints": {verdict("old", ""), nil, false},
	} {
		if got := judged(c.verdict, c.before, modelio.Run{ID: "a", Fingerprint: "f"}); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
