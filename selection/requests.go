package selection

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// request holds the flags that requested a k, and why a rule chose it.
type request struct{ texts, reasons []string }

// model sets the k of a model and the results of solving, except the parameters.
func (r request) model(m modelio.ModelRow, o solver.Outcome) modelio.ModelRow {
	m.K, m.KRequested, m.KReason = o.K, strings.Join(r.texts, ","), strings.Join(r.reasons, "; ")
	m.Base, m.UpperBoundGain, m.Gain, m.Gap = o.Base, o.UpperBound, o.Gain, o.Gap
	m.Certificate, m.Evaluations = o.Certificate.String(), int64(o.Evaluations)
	return m
}

// requests returns the ks to make models for.
func requests(ks []K, rules rules) (map[int64]request, error) {
	requested := map[int64]request{}
	for _, k := range ks {
		n, reason, err := k.of(rules)
		if err != nil {
			return nil, err
		}
		r := requested[n]
		if !slices.Contains(r.texts, k.Text) {
			r.texts = append(r.texts, k.Text)
		}
		if reason != "" && !slices.Contains(r.reasons, reason) {
			r.reasons = append(r.reasons, reason)
		}
		requested[n] = r
	}
	return requested, nil
}

// beyond returns a warning if a requested number exceeds the number m of features.
func beyond(ks []K, m int64) (warnings []string) {
	var list []string
	for _, k := range ks {
		if k.Number > m {
			list = append(list, k.Text)
		}
	}
	if n := len(list); n > 0 {
		warnings = append(warnings, fmt.Sprintf("k = %s exceeds the number of features, %d: all are selected",
			strings.Join(list[:min(n, 3)], ", ")+strings.Repeat(", …", min(n/4, 1)), m))
	}
	return warnings
}

// pathOf returns 1, 2, 5, 10, 20, 50, … up to m, and the requested ks, in ascending order.
func pathOf(m int64, requested map[int64]request) []int64 {
	ks := []int64{m}
	for decade := int64(1); decade <= m; decade *= 10 {
		for _, step := range []int64{1, 2, 5} {
			if k := step * decade; k <= m {
				ks = append(ks, k)
			}
		}
		if decade > math.MaxInt64/100 {
			break
		}
	}
	for k := range requested {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return slices.Compact(ks)
}
