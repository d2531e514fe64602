package selection

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/solver"
)

// K is a requested number of features: a number, a percentage of all features, or a rule.
type K struct {
	Text    string // as given
	Number  int64
	Percent float64 // if Number is 0
	Rule    Rule    // if both are 0
	Value   float64 // of the rule
}

// Rule is a rule that chooses k from the counts.
type Rule string

// The rules.
const (
	ForGain Rule = "gain" // the fewest features with a share of the gain of all
	Knee    Rule = "knee" // where the curve of the upper bound is farthest above the line between its ends
	FDR     Rule = "fdr"  // the features that are significant at a false discovery rate
)

// ParseK parses a number such as 9, a percentage such as 5%, or a rule: auto:gain=99%, auto:knee or auto:fdr=0.05.
func ParseK(text string) (K, error) {
	k := K{Text: text}
	var err error
	if rule, ok := strings.CutPrefix(text, "auto:"); ok {
		return k.parseRule(rule)
	}
	if strings.HasSuffix(text, "%") {
		k.Percent, err = parsePercent(text)
		return k, err
	}
	k.Number, err = strconv.ParseInt(text, 10, 64)
	if err != nil || k.Number < 1 {
		return k, fmt.Errorf("%q: must be a whole number of at least 1, a percentage such as 5%%, or auto:gain=99%%, auto:knee or auto:fdr=0.05", text)
	}
	return k, nil
}

func parsePercent(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent > 0 && percent <= 100) {
		return 0, fmt.Errorf("%q: must be a percentage above 0%% and up to 100%%", text)
	}
	return percent, nil
}

func (k K) parseRule(rule string) (K, error) {
	name, value, _ := strings.Cut(rule, "=")
	var err error
	switch k.Rule = Rule(name); {
	case k.Rule == ForGain && strings.HasSuffix(value, "%"):
		k.Value, err = parsePercent(value)
		return k, err
	case k.Rule == Knee && rule == name:
		return k, nil
	case k.Rule == FDR:
		k.Value, err = strconv.ParseFloat(value, 64)
		if err == nil && k.Value > 0 && k.Value < 1 {
			return k, nil
		}
	}
	return k, fmt.Errorf("%q: must be auto:gain=99%%, auto:knee or auto:fdr=0.05", k.Text)
}

// rules hold what the rules need of a problem, which is computed only for the rules that are used.
type rules struct {
	features    int64
	curve       func(solver.Settings) (solver.Curve, error)
	significant func(rate float64) (int64, error)
}

// of returns k for the problem, and the reason if a rule chose it. A percentage is rounded to the nearest number, and to at
// least 1.
func (k K) of(r rules) (n int64, reason string, err error) {
	m := r.features
	switch {
	case k.Number > 0:
		return min(k.Number, m), "", nil
	case k.Percent > 0:
		return min(max(int64(math.Round(k.Percent/100*float64(m))), 1), m), "", nil
	case k.Rule == FDR:
		return k.ofFDR(r)
	}
	c, err := r.curve(solver.Settings{})
	if err != nil {
		return 0, "", err
	}
	if k.Rule == ForGain {
		return c.ForGain(k.Value / 100), fmt.Sprintf("the fewest features with %v%% of the gain of all %s (%.2f)", k.Value, humanize.Comma(m), c.Bound(m)), nil
	}
	return c.Knee(), fmt.Sprintf("the knee of the gain curve: one more feature would gain less than the average, %.4g", c.Bound(m)/float64(m)), nil
}

func (k K) ofFDR(r rules) (n int64, reason string, err error) {
	n, err = r.significant(k.Value)
	if n == 0 {
		return 1, fmt.Sprintf("no feature is significant at FDR %v; the first one is selected", k.Value), err
	}
	if n == 1 {
		return n, fmt.Sprintf("1 feature is significant at FDR %v", k.Value), err
	}
	return n, fmt.Sprintf("%s features are significant at FDR %v", humanize.Comma(n), k.Value), err
}
