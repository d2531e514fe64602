package selection

import (
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// pathRows returns the rows of the path of a model, with the differences between its upper bounds at k, k-1 and k-4.
func pathRows(model modelio.ModelRow, ks []int64, bounds func(ks []int64) ([]float64, error)) ([]modelio.PathRow, error) {
	var all []int64
	for _, k := range ks {
		all = append(all, k, k-1, k-4)
	}
	values, err := bounds(all)
	if err != nil {
		return nil, err
	}
	rows := make([]modelio.PathRow, len(ks))
	for i, k := range ks {
		b := values[3*i : 3*i+3]
		rows[i] = modelio.PathRow{Problem: model.Problem, Smoothing: model.Smoothing, K: k, MarginalGain: max(0, b[0]-b[1]), Elbow: max(0, b[0]-b[2])}
	}
	return rows, nil
}

func ksOf(path []modelio.PathRow) (ks []int64) {
	for _, row := range path {
		ks = append(ks, row.K)
	}
	return ks
}

// completeRow sets the results of solving, except α.
func completeRow(row *modelio.PathRow, o solver.Outcome) {
	row.UpperBoundGain, row.Gain, row.Gap, row.Certificate = o.UpperBound, o.Gain, o.Gap, o.Certificate.String()
}
