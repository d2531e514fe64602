package pool

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
)

// Each element is emitted once, to its output, and by the goroutine of the bundle: the race detector would see another.
func TestPoolEmitsAll(t *testing.T) {
	for _, threads := range []int{0, 1, 3} {
		got := [2]map[string]int{{}, {}}
		emit := Outputs(func(b []byte) { got[0][string(b)]++ }, func(b []byte) { got[1][string(b)]++ })
		p := Start(t.Context(), threads, Each(func(_ context.Context, i int, emit Emitter) error {
			for j := range 10 {
				emit(i%2, fmt.Append(nil, i, ",", j))
			}
			return nil
		}))
		for i := range 20 {
			if err := p.Do(i, emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Finish(emit); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			for j := range 10 {
				if n := got[i%2][fmt.Sprint(i, ",", j)]; n != 1 {
					t.Errorf("%d goroutines: element %d of %d was emitted %d times", threads, j, i, n)
				}
			}
		}
	}
}

// Each goroutine has a separate state, and emits it at the end.
func TestWorkersHaveState(t *testing.T) {
	for _, threads := range []int{1, 3} {
		workers, sum := 0, 0
		emit := func(n int, _ []byte) { workers, sum = workers+1, sum+n }
		p := Start(t.Context(), threads, func(_ context.Context, elements iter.Seq[int], emit Emitter) error {
			n := 0
			for e := range elements {
				n += e
			}
			emit(n, nil)
			return nil
		})
		for i := range 100 {
			if err := p.Do(i, emit); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Finish(emit); err != nil || workers != threads || sum != 4950 {
			t.Errorf("%d workers of %d have the sum %d, %v", workers, threads, sum, err)
		}
	}
}

// The first error ends the bundle, and the workers that still run see that their context has ended.
func TestPoolFails(t *testing.T) {
	wrong := errors.New("wrong")
	ended := make(chan error, 1)
	p := Start(t.Context(), 2, Each(func(ctx context.Context, fails bool, emit Emitter) error {
		if fails {
			return wrong
		}
		<-ctx.Done()
		emit(0, nil) // nobody takes it
		ended <- context.Cause(ctx)
		return nil
	}))
	var err error
	for _, fails := range []bool{false, true} {
		err = errors.Join(err, p.Do(fails, Outputs(func([]byte) {})))
	}
	if err = errors.Join(err, p.Finish(Outputs(func([]byte) {}))); !errors.Is(err, wrong) {
		t.Errorf("the bundle ended with %v", err)
	}
	if err := <-ended; !errors.Is(err, wrong) {
		t.Errorf("the other worker saw %v", err)
	}
}

// ErrStop, also inside another error, drops the remaining elements and is not an error of the bundle.
func TestPoolStops(t *testing.T) {
	for _, threads := range []int{1, 3} {
		var done atomic.Int64
		p := Start(t.Context(), threads, Each(func(context.Context, int, Emitter) error {
			done.Add(1)
			return fmt.Errorf("enough: %w", ErrStop)
		}))
		for i := range 1000 {
			if err := p.Do(i, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Finish(nil); err != nil || done.Load() > int64(threads) {
			t.Errorf("%d elements were done by %d goroutines, %v", done.Load(), threads, err)
		}
	}
}

// A worker's panic goes on in the goroutine of the bundle, whether it has handed over all its elements or not.
func TestPoolPanics(t *testing.T) {
	for _, threads := range []int{1, 2} {
		for _, more := range []bool{false, true} {
			func() {
				defer func() {
					if p := recover(); p != "a panic" {
						t.Errorf("the panic was %v", p)
					}
				}()
				p := Start(t.Context(), threads, Each(func(context.Context, int, Emitter) error { panic("a panic") }))
				if err := p.Do(0, nil); err != nil {
					t.Error(err)
				}
				if more {
					<-p.ctx.Done()
					t.Error(p.Do(0, nil))
				}
				t.Error(p.Finish(nil))
			}()
		}
	}
}

func TestAbandonedWorkersEnd(t *testing.T) {
	p := Start(t.Context(), 2, Each(func(_ context.Context, _ int, emit Emitter) error { emit(0, nil); return nil }))
	if err := p.Do(0, nil); err != nil {
		t.Fatal(err)
	}
	p.Abandon()
	for range p.emissions { // closed when all goroutines have ended
		t.Log("an element came before the end")
	}
	(*Pool[int])(nil).Abandon() // a bundle without elements has none
}

// On an engine an element is done when Do returns: the counts of only one shard are held at a time.
func TestOneWorkerDoesOneElementAtATime(t *testing.T) {
	failure := errors.New("a failure")
	p := Start(t.Context(), 1, Each(func(_ context.Context, name string, emit Emitter) error {
		if name == "" {
			return failure
		}
		emit(0, []byte(name))
		return nil
	}))
	var emitted []string
	emit := Outputs(func(b []byte) { emitted = append(emitted, string(b)) })
	for i, name := range []string{"a", "b"} {
		if err := p.Do(name, emit); err != nil || len(emitted) != i+1 {
			t.Errorf("%v emitted after %s, %v", emitted, name, err)
		}
	}
	if err := p.Do("", emit); err != failure {
		t.Error(err)
	}
	if err := p.Finish(emit); err != failure {
		t.Error(err)
	}
	p.Abandon()
}
