package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// function is a row of model.parquet with its weights: a linear function of the values of a document's features, or of their
// presence. It is the log-odds of the positive class, or in a joint model its log-probability up to a constant.
type function struct {
	positive  string
	intercept score
	columns   []int32   // of Model.names, ascending
	weights   []float64 // of columns
	orders    []float64 // of weights, see score; nil if all are 0
}

// functionsOf returns the functions of the rows of a model: one for two sides, one for each class for a joint model, which
// share their columns.
func functionsOf(rows []modelio.ModelRow, features []modelio.FeatureRow, columns map[string]int32) ([]function, error) {
	if err := checkShape(rows, features); err != nil {
		return nil, err
	}
	n := len(rows)
	order := make([]int, len(features)/n) // of the features, by column
	for i := range order {
		order[i] = i * n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(columns[features[a].Feature], columns[features[b].Feature]) })
	shared := make([]int32, len(order))
	for i, at := range order {
		if shared[i] = columns[features[at].Feature]; i > 0 && shared[i] == shared[i-1] {
			return nil, fmt.Errorf("the feature %.40q is there twice", features[at].Feature)
		}
	}
	weigh := publishedWeights
	if hasLimits(rows[0]) {
		weigh = limits
	}
	intercepts, weights, err := weigh(rows, features)
	if err != nil {
		return nil, err
	}
	functions := make([]function, n)
	for c := range functions {
		f := function{positive: rows[c].Positive, intercept: intercepts[c], columns: shared, weights: make([]float64, len(order))}
		for i, at := range order {
			w := weights[at+c]
			f.weights[i] = w.finite
			if w.order != 0 {
				if f.orders == nil {
					f.orders = make([]float64, len(order))
				}
				f.orders[i] = w.order
			}
		}
		functions[c] = f
	}
	return functions, nil
}

// checkShape checks that the features are those of the rows.
func checkShape(rows []modelio.ModelRow, features []modelio.FeatureRow) error {
	m := rows[0]
	if joint := m.Strategy == modelio.Joint; joint != (len(rows) > 1) {
		return fmt.Errorf("a model with the strategy %q has %d rows", m.Strategy, len(rows))
	}
	if int64(len(features)) != m.K*int64(len(rows)) {
		return fmt.Errorf("the model has %d rows of features", len(features))
	}
	for i, f := range features {
		if f.Class != rows[i%len(rows)].Positive || f.Feature != features[i-i%len(rows)].Feature {
			return fmt.Errorf("the feature %.40q has no row for each class, in the order of the classes", f.Feature)
		}
	}
	for i, row := range rows {
		if row.Strategy != m.Strategy || row.Model != m.Model || classifierOf(row) != classifierOf(m) {
			return errors.New("the rows of the model contradict each other")
		}
		if i > 0 && row.Positive <= rows[i-1].Positive {
			return errors.New("the classes are not in order")
		}
	}
	return nil
}

// infinite returns the error of a model whose weights are not finite.
func infinite(row modelio.ModelRow) error {
	if row.Smoothing > 0 {
		return errors.New("a weight or the intercept is not a number")
	}
	return modelio.Usagef("the weights are infinite, and features.parquet lacks the counts to compute their limits; train with a --smoothing above 0")
}

// publishedWeights returns the intercepts of the rows, and the weights of the features.
func publishedWeights(rows []modelio.ModelRow, features []modelio.FeatureRow) (intercepts, weights []score, err error) {
	for _, row := range rows {
		if math.IsNaN(row.Intercept) {
			return nil, nil, infinite(rows[0])
		}
		intercepts = append(intercepts, scoreOf(row.Intercept))
	}
	for _, f := range features {
		if math.IsNaN(f.Weight) || math.IsInf(f.Weight, 0) {
			return nil, nil, infinite(rows[0])
		}
		weights = append(weights, score{0, f.Weight})
	}
	return intercepts, weights, nil
}
