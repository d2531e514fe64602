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

func ExamplePath() {
	hamilton := []float64{374, 1, 10289, 367, 32}
	madison := []float64{7, 12, 4066, 420, 0}
	groups, err := solver.GroupFeatures(hamilton, madison)
	if err != nil {
		fmt.Println(err)
		return
	}
	problem := solver.Problem{Groups: groups, Smoothing: 1}
	for r, err := range solver.Path(problem, []int64{1, 2, 3, 5}, solver.Settings{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("k = %d: gain %.1f, bound %.1f, %v\n", r.K, r.Gain, r.UpperBound, r.Certificate)
	}
	// Output:
	// k = 1: gain 0.0, bound 100.4, optimal
	// k = 2: gain 185.8, bound 189.4, optimal
	// k = 3: gain 203.1, bound 207.7, optimal
	// k = 5: gain 222.0, bound 222.0, optimal
}
