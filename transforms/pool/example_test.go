package pool_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/sparsenb/sparsenb/transforms/pool"
)

// Each goroutine sums the numbers that it gets, and emits its sum at the end. The sum of these does not depend on how
// many goroutines there are.
func Example() {
	work := func(_ context.Context, numbers iter.Seq[int], emit pool.Emitter) error {
		sum := 0
		for n := range numbers {
			sum += n
		}
		emit(0, fmt.Append(nil, sum))
		return nil
	}
	total := 0
	add := pool.Outputs(func(b []byte) {
		var sum int
		if _, err := fmt.Sscan(string(b), &sum); err != nil {
			fmt.Println(err)
		}
		total += sum
	})

	p := pool.Start(context.Background(), 3, work)
	defer p.Abandon()
	for n := range 101 {
		if err := p.Do(n, add); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := p.Finish(add); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(total)
	// Output: 5050
}
