package transforms

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Each element is emitted once, to its emitter, and by the goroutine of the bundle: the race detector would see another.
func TestWorkersEmitAll(t *testing.T) {
	for _, threads := range []int{0, 1, 3} {
		got := [2]map[string]int{{}, {}}
		emitters := []func([]byte){func(b []byte) { got[0][string(b)]++ }, func(b []byte) { got[1][string(b)]++ }}
		w := startWorkers(t.Context(), threads)
		for i := range 20 {
			err := w.do(func(_ context.Context, emit func(int, []byte)) error {
				for j := range 10 {
					emit(i%2, fmt.Append(nil, i, ",", j))
				}
				return nil
			}, emitters...)
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.finish(emitters...); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			for j := range 10 {
				if n := got[i%2][fmt.Sprint(i, ",", j)]; n != 1 {
					t.Errorf("%d goroutines: element %d of task %d was emitted %d times", threads, j, i, n)
				}
			}
		}
	}
}

// The first error ends the bundle, and what is still at work sees that its context has ended.
func TestWorkersFail(t *testing.T) {
	wrong := errors.New("wrong")
	w := startWorkers(t.Context(), 2)
	ended := make(chan error, 1)
	tasks := []task{
		func(ctx context.Context, emit func(int, []byte)) error {
			<-ctx.Done()
			emit(0, nil) // nobody takes it
			ended <- context.Cause(ctx)
			return nil
		},
		func(context.Context, func(int, []byte)) error { return wrong },
	}
	var err error
	for _, task := range tasks {
		err = errors.Join(err, w.do(task, func([]byte) {}))
	}
	if err = errors.Join(err, w.finish(func([]byte) {})); !errors.Is(err, wrong) {
		t.Errorf("the bundle ended with %v", err)
	}
	if err := <-ended; !errors.Is(err, wrong) {
		t.Errorf("the other task saw %v", err)
	}
}

// A panic of a task is one of the bundle, whether it has handed over all its elements or not.
func TestWorkersPanic(t *testing.T) {
	for _, more := range []bool{false, true} {
		func() {
			defer func() {
				if p := recover(); p != "a panic" {
					t.Errorf("the panic was %v", p)
				}
			}()
			w := startWorkers(t.Context(), 2)
			if err := w.do(func(context.Context, func(int, []byte)) error { panic("a panic") }); err != nil {
				t.Error(err)
			}
			if more {
				<-w.ctx.Done()
				t.Error(w.do(func(context.Context, func(int, []byte)) error { return nil }))
			}
			t.Error(w.finish())
		}()
	}
}

func TestAbandonedWorkersEnd(t *testing.T) {
	w := startWorkers(t.Context(), 2)
	if err := w.do(func(_ context.Context, emit func(int, []byte)) error { emit(0, nil); return nil }); err != nil {
		t.Fatal(err)
	}
	w.abandon()
	for range w.emissions { // closed when all goroutines have ended
		t.Log("an element came before the end")
	}
	(*workers)(nil).abandon() // a bundle without elements has none
}

// On an engine an element is done when the next one comes: of the shards' counts no more than one is held.
func TestOneWorkerDoesOneElementAtATime(t *testing.T) {
	w := startWorkers(t.Context(), 1)
	var emitted []string
	emitter := func(b []byte) { emitted = append(emitted, string(b)) }
	for i, name := range []string{"a", "b"} {
		err := w.do(func(_ context.Context, emit func(int, []byte)) error { emit(0, []byte(name)); return nil }, emitter)
		if err != nil || len(emitted) != i+1 {
			t.Errorf("%v emitted after %s, %v", emitted, name, err)
		}
	}
	failure := errors.New("a failure")
	if err := w.do(func(context.Context, func(int, []byte)) error { return failure }, emitter); err != failure {
		t.Error(err)
	}
	if err := w.finish(emitter); err != nil {
		t.Error(err)
	}
	w.abandon()
}
