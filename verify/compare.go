package verify

import (
	"cmp"
	"fmt"
	"math"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// compareModel compares a published model with the recomputed one.
func compareModel(got, want modelio.ModelRow, resolution float64) error {
	if got.TiedSelected != want.TiedSelected || got.TiedLeftOut != want.TiedLeftOut {
		return fmt.Errorf("%d features tie with %d that were left out, but recomputed %d with %d", got.TiedSelected, got.TiedLeftOut, want.TiedSelected, want.TiedLeftOut)
	}
	return cmp.Or(
		compareNumbers([]number{{"base", got.Base, want.Base}, {"intercept", got.Intercept, want.Intercept}}),
		compareGains([]number{
			{"gain", got.Gain, want.Gain}, {"upper_bound_gain", got.UpperBoundGain, want.UpperBoundGain}, {"gap", got.Gap, got.UpperBoundGain - got.Gain},
		}, resolution),
	)
}

// compareFeature compares a published row with the recomputed one.
func compareFeature(got, want modelio.FeatureRow, resolution float64) error {
	if got.Rank != want.Rank || got.Feature != want.Feature || got.FeatureID != want.FeatureID || got.Class != want.Class {
		return fmt.Errorf("rank %d has %q of class %s, but recomputed %q of class %s", got.Rank, got.Feature, got.Class, want.Feature, want.Class)
	}
	if got.Classifier != want.Classifier {
		return fmt.Errorf("feature %q has the classifier %q, and its model %q", got.Feature, got.Classifier, want.Classifier)
	}
	if got.CountPositive != want.CountPositive || got.CountNegative != want.CountNegative {
		return fmt.Errorf("feature %q has the counts %v and %v, but recomputed %v and %v", got.Feature, got.CountPositive, got.CountNegative, want.CountPositive, want.CountNegative)
	}
	if !modelio.EqualOrNull(got.DocumentsPositive, want.DocumentsPositive) || !modelio.EqualOrNull(got.DocumentsNegative, want.DocumentsNegative) {
		return fmt.Errorf("feature %q has document counts that differ from the recomputed ones", got.Feature)
	}
	err := cmp.Or(
		compareGains([]number{{"score", got.Score, want.Score}, {"statistic", got.Statistic, want.Statistic}}, resolution),
		compareNumbers([]number{
			{"theta_positive", got.ThetaPositive, want.ThetaPositive}, {"theta_negative", got.ThetaNegative, want.ThetaNegative},
			{"weight", got.Weight, want.Weight},
		}),
	)
	if err != nil {
		return fmt.Errorf("feature %q: %w", got.Feature, err)
	}
	return nil
}

func isCertificate(text string) bool {
	return text == solver.Optimal.String() || text == solver.Bounded.String() || text == solver.Heuristic.String()
}

type number struct {
	name      string
	got, want float64
}

// compareNumbers compares published numbers with recomputed ones, to nine digits: processors round differently.
func compareNumbers(numbers []number) error { return compareGains(numbers, 0) }

// compareGains is compareNumbers for gains, which are also equal if they differ by no more than the resolution.
func compareGains(numbers []number, resolution float64) error {
	for _, n := range numbers {
		if n.got == n.want || n.name == "intercept" && math.IsNaN(n.got) && math.IsNaN(n.want) {
			continue
		}
		if !(math.Abs(n.got-n.want) <= 1e-9*math.Abs(n.want)+1e-12+resolution) {
			return fmt.Errorf("%s is %v, but recomputed %v", n.name, n.got, n.want)
		}
	}
	return nil
}
