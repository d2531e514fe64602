package selection_test

import (
	"fmt"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// Two of five words are selected from their counts in the Federalist papers of two authors.
func ExampleParams_Solve() {
	words := []string{"upon", "whilst", "the", "on", "enough"}
	hamilton := []float64{374, 1, 10289, 367, 32}
	madison := []float64{7, 12, 4066, 420, 0}
	labels := []string{"Hamilton", "Madison"}

	vectors := solver.NewVectors(len(labels))
	for i := range words {
		if err := vectors.Add([]int32{0, 1}, []float64{hamilton[i], madison[i]}, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	k, err := selection.ParseK("2")
	if err != nil {
		fmt.Println(err)
		return
	}
	params := selection.Params{K: []selection.K{k}, Smoothing: []float64{1}, Positive: "Hamilton", Strategy: modelio.OneVersusRest}
	solved, err := params.Solve(vectors.Group(), []modelio.Class{{Label: "Hamilton"}, {Label: "Madison"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range solved {
		for _, row := range s.Path {
			fmt.Printf("k = %d: gain %.1f, at most %.1f, %s\n", row.K, row.Gain, row.UpperBoundGain, row.Certificate)
		}
	}
	// Output:
	// k = 1: gain 0.0, at most 100.4, optimal
	// k = 2: gain 185.8, at most 189.4, optimal
	// k = 5: gain 222.0, at most 222.0, optimal
}

// The problem of a published model evaluates the same features again, without solving.
func ExampleProblem() {
	classes := []modelio.Class{{Label: "Hamilton"}, {Label: "Madison"}}
	vectors := solver.NewVectors(len(classes))
	for _, counts := range [][]float64{{374, 7}, {1, 12}, {10289, 4066}, {367, 420}, {32, 0}} {
		if err := vectors.Add([]int32{0, 1}, counts, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	model := modelio.ModelRow{Strategy: modelio.Binary, Positive: "Hamilton", Negative: "Madison", Model: "multinomial", Method: "nfs", Smoothing: 1, K: 2, Odds: 1}
	problem, err := selection.NewProblems(vectors.Group(), classes).Of(model)
	if err != nil {
		fmt.Println(err)
		return
	}
	features := []selection.Feature{{Name: "upon", Counts: []float64{374, 7}}, {Name: "on", Counts: []float64{367, 420}}}
	solution, err := problem.Evaluate([]modelio.ModelRow{model}, features)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("gain %.1f\n", solution.Models[0].Gain)
	_, rows := solution.Rows(features)
	for _, row := range rows {
		fmt.Printf("%d %s %+.2f\n", row.Rank, row.Feature, row.Weight)
	}
	// Output:
	// gain 185.8
	// 1 upon +3.30
	// 2 on -0.68
}
