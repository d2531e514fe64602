package selection

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// What was solved is what is selected: a model whose features gain something else is not written.
func TestFeaturesMatchTheSolution(t *testing.T) {
	rows := []modelio.FeatureRow{{Score: 1}, {Score: 2}}
	for gain, good := range map[float64]bool{3: true, 3 + 1e-6: false, math.NaN(): false} {
		if err := compareSolution(rows, Solution{[]modelio.ModelRow{{K: 2, Gain: gain}}, twoSidesSupport{}}); (err == nil) != good {
			t.Errorf("a gain of %v: %v", gain, err)
		}
	}
	if err := compareSolution(rows[:1], Solution{[]modelio.ModelRow{{K: 2, Gain: 1}}, twoSidesSupport{}}); err == nil {
		t.Error("one of two features is enough")
	}
}

func TestParseK(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "9": 9, "250": 200, "5%": 10, "1%": 2, "0.1%": 1, "100%": 200, "0.7%": 1, "0.8%": 2} {
		k, err := ParseK(text)
		if err != nil {
			t.Fatal(err)
		}
		if n, reason, err := k.of(rules{features: 200}); n != want || reason != "" || err != nil {
			t.Errorf("%s of 200 is %d, %q, %v; want %d", text, n, reason, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "0%", "101%", "-5%", "NaN%", "x", "%", "9 ", "1e3", "99999999999999999999",
		"auto", "auto:", "auto:gain", "auto:gain=0%", "auto:gain=2", "auto:elbow", "auto:knee=", "auto:knee=1", "auto:fdr", "auto:fdr=0", "auto:fdr=1", "auto:fdr=5%", "auto:best"} {
		if k, err := ParseK(text); err == nil {
			t.Errorf("%q is taken for %+v", text, k)
		}
	}
}

// A curve of 10 features; the first gains most.
func TestRulesForK(t *testing.T) {
	bound := func(k int64) float64 { return 100 * (1 - math.Pow(0.5, float64(k))) }
	curve := solver.Curve{Features: 10, Bound: bound, Gain: func(k int64) float64 { return bound(k) - 0.1 }}
	c := rules{10, func(solver.Settings) (solver.Curve, error) { return curve, nil }, func(rate float64) (int64, error) {
		return int64(100 * rate), nil
	}}
	for text, want := range map[string]struct {
		k      int64
		reason string
	}{
		"auto:gain=50%": {2, "the fewest features with 50% of the gain of all 10 (99.90)"}, "auto:gain=90%": {4, "(99.90)"}, "auto:gain=100%": {10, "100%"},
		"auto:knee": {3, "less than the average, 9.99"}, "auto:fdr=0.05": {5, "5 features are significant at FDR 0.05"}, "auto:fdr=0.001": {1, "no feature is significant"},
	} {
		k, err := ParseK(text)
		if err != nil {
			t.Fatal(err)
		}
		n, reason, err := k.of(c)
		if n != want.k || !strings.Contains(reason, want.reason) || err != nil {
			t.Errorf("%s: %d, %q, %v; want %v", text, n, reason, err, want)
		}
	}
}

func TestProblemsAreCounted(t *testing.T) {
	var classes []modelio.Class
	for i := range 150 {
		classes = append(classes, modelio.Class{Label: fmt.Sprintf("%03d", i)})
	}
	for _, strategy := range []Strategy{modelio.OneVersusRest, modelio.OneVersusOne} {
		for _, positive := range []string{"", "001"} {
			for _, n := range []int{2, 3, 20, 150} {
				if got, want := strategy.Problems(n, positive), len(problems(classes[:n], strategy, positive)); got != int64(want) {
					t.Errorf("%s of %d classes, positive %q: %d problems, want %d", strategy, n, positive, got, want)
				}
			}
		}
	}
	for strategy, refused := range map[Strategy]bool{modelio.OneVersusOne: true, modelio.OneVersusRest: false, modelio.Joint: false} {
		exit, message := ValidateClasses(classes, "", strategy)
		if want := "--strategy=ovo makes 11,175 problems of 150 classes"; refused != strings.HasPrefix(message, want) || refused != (exit == modelio.ExitUsage) {
			t.Errorf("%s: exit %d, %s", strategy, exit, message)
		}
	}
	many := make([]modelio.Class, 10_001)
	for i := range many {
		many[i].Label = fmt.Sprintf("%05d", i)
	}
	if _, message := ValidateClasses(many, "", modelio.OneVersusRest); message != "" {
		t.Errorf("each of 10,001 classes against the rest: %s", message)
	}
	if _, message := ValidateClasses(classes, "001", modelio.OneVersusOne); message != "" {
		t.Errorf("one class against each other: %s", message)
	}
	if _, message := ValidateClasses(classes[:141], "", modelio.OneVersusOne); message != "" {
		t.Errorf("9,870 problems: %s", message)
	}
}

func TestPath(t *testing.T) {
	for m, want := range map[int64]string{1: "[1]", 2: "[1 2]", 7: "[1 2 3 5 7]", 74: "[1 2 3 5 10 20 50 74]", 100: "[1 2 3 5 10 20 50 100]"} {
		requested := map[int64]request{}
		if m >= 3 {
			requested[3] = request{}
		}
		if got := fmt.Sprint(pathOf(m, requested)); got != want {
			t.Errorf("m = %d: %s, want %s", m, got, want)
		}
	}
	if ks := pathOf(math.MaxInt64, nil); ks[len(ks)-1] != math.MaxInt64 || !slices.IsSorted(ks) {
		t.Errorf("%v", ks)
	}
}
