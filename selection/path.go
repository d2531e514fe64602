package selection

import "github.com/sparsenb/sparsenb/io/modelio"

// PathRows begins the path with what the bound gains from one k to another.
func PathRows(model modelio.ModelRow, ks []int64, bounds func(ks []int64) ([]float64, error)) ([]modelio.PathRow, error) {
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
