package solver_test

import (
	"fmt"

	"github.com/sparsenb/sparsenb/solver"
)

func ExampleSolve() {
	words := []string{"upon", "whilst", "the", "on", "enough"}
	hamilton := []float64{374, 1, 10289, 367, 32}
	madison := []float64{7, 12, 4066, 420, 0}

	groups, err := solver.GroupFeatures(hamilton, madison)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := solver.Solve(solver.Problem{Groups: groups, K: 2, Smoothing: 1}, solver.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, word := range words {
		if r.Take[solver.GroupOf(groups, hamilton[i], madison[i])] > 0 {
			fmt.Printf("%s %+.2f\n", word, r.Parameters.Weight(hamilton[i], madison[i]))
		}
	}
	fmt.Printf("gain %.1f, %v; the bound is %.1f\n", r.Gain, r.Certificate, r.UpperBound)
	// Output:
	// upon +3.30
	// on -0.68
	// gain 185.8, optimal; the bound is 189.4
}
