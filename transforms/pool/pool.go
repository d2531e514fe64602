// Package pool runs the elements of one bundle in several goroutines. A local runner makes one bundle of all elements,
// so the parallelism has to come from inside the bundle. The package does not depend on Beam.
//
// The caller hands elements over with [Pool.Do] and waits for the rest with [Pool.Finish]. Beam requires that a DoFn
// emits from the goroutine that calls it, so elements that a worker emits are passed to Do and Finish, which emit them.
package pool

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
)

// Emitter emits an element to output number to.
type Emitter func(to int, element []byte)

// Outputs returns an Emitter to numbered outputs, counted from 0.
func Outputs(outputs ...func([]byte)) Emitter {
	return func(to int, element []byte) { outputs[to](element) }
}

// Work is what one goroutine does. Its local variables are the state of this worker. elements ends after the last element
// of the bundle, and early if ctx ends. An error ends the work of all goroutines; [ErrStop] does so without an error.
type Work[E any] func(ctx context.Context, elements iter.Seq[E], emit Emitter) error

// Each returns Work without state: it calls do for every element.
func Each[E any](do func(ctx context.Context, element E, emit Emitter) error) Work[E] {
	return func(ctx context.Context, elements iter.Seq[E], emit Emitter) error {
		for e := range elements {
			if err := do(ctx, e, emit); err != nil {
				return err
			}
		}
		return nil
	}
}

// ErrStop ends the work early: the remaining elements are dropped, and Do and Finish return nil.
var ErrStop = errors.New("pool: the rest of the bundle is not needed")

var errAbandoned = errors.New("the runner has abandoned the bundle")

// Pool is a set of goroutines that work on one bundle. Its methods are for one goroutine. A nil *Pool is a bundle without
// elements: Finish and Abandon do nothing.
type Pool[E any] struct {
	elements  chan *E       // pointers, because a channel allocates all its elements at once
	done      chan struct{} // a single worker has finished its element; nil if there are several workers
	emissions chan emission // closed when all goroutines have ended
	ctx       context.Context
	fail      context.CancelCauseFunc
}

type emission struct {
	to      int
	element []byte
}

// queueSize is how many elements wait for several workers. Prism splits a bundle whose elements are taken slowly; with a
// short queue, six bundles at once were seen, each with its own goroutines and tables.
const queueSize = 1 << 16

// Start starts goroutines that work on the elements of a bundle; 0 threads means one for each processor. With one
// thread, as on an engine, Do returns when the element is done.
func Start[E any](ctx context.Context, threads int, work Work[E]) *Pool[E] {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool[E]{emissions: make(chan emission)}
	p.ctx, p.fail = context.WithCancelCause(ctx)
	if threads == 1 {
		p.elements, p.done = make(chan *E), make(chan struct{})
	} else {
		p.elements = make(chan *E, queueSize)
	}
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			defer p.recoverPanic()
			if err := work(p.ctx, p.all, p.emit); err != nil {
				p.fail(err)
			}
		})
	}
	go func() {
		wg.Wait()
		close(p.emissions)
	}()
	return p
}

// all yields elements to one worker until there are no more or the work has ended.
func (p *Pool[E]) all(yield func(E) bool) {
	for {
		select {
		case <-p.ctx.Done():
			return
		case e, ok := <-p.elements:
			if !ok || !yield(*e) {
				return
			}
		}
		if p.done != nil {
			select {
			case p.done <- struct{}{}:
			case <-p.ctx.Done():
			}
		}
	}
}

// emit passes an element to the caller of Do or Finish. After an early end, nobody takes it.
func (p *Pool[E]) emit(to int, element []byte) {
	select {
	case p.emissions <- emission{to, element}:
	case <-p.ctx.Done():
	}
}

// panicked holds the value of a worker's panic.
type panicked struct{ value any }

func (panicked) Error() string { return "a worker has panicked" }

// recoverPanic keeps a panic from ending the process; cause panics again where Beam recovers it.
func (p *Pool[E]) recoverPanic() {
	if value := recover(); value != nil {
		p.fail(panicked{value})
	}
}

// cause is the error that ended the work early, or nil.
func (p *Pool[E]) cause() error {
	err := context.Cause(p.ctx)
	var panicked panicked
	switch {
	case errors.As(err, &panicked):
		panic(panicked.value)
	case errors.Is(err, ErrStop):
		return nil
	}
	return err
}

// Do hands an element to the workers and emits what they have ready. It returns the error that has ended the work early.
func (p *Pool[E]) Do(e E, emit Emitter) error {
	elements := p.elements
	for p.ctx.Err() == nil {
		select {
		case elements <- &e:
			if p.done == nil {
				return nil
			}
			elements = nil // wait until it is done
		case <-p.done:
			return nil
		case m, ok := <-p.emissions:
			if !ok { // before Finish, goroutines should end only after an error
				return cmp.Or(p.cause(), p.unfinished())
			}
			emit(m.to, m.element)
		case <-p.ctx.Done():
		}
	}
	p.wait()
	return p.cause()
}

// unfinished is the error of work that has ended without an error and left elements, unless it has stopped.
func (p *Pool[E]) unfinished() error {
	if p.ctx.Err() != nil {
		return nil
	}
	return errors.New("the workers have ended before the last element")
}

// wait waits until all goroutines have ended: none creates a file after it.
func (p *Pool[E]) wait() {
	for range p.emissions {
	}
}

// Finish waits until all elements are done and emits the rest. It returns the error that has ended the work early.
func (p *Pool[E]) Finish(emit Emitter) error {
	if p == nil {
		return nil
	}
	close(p.elements)
	for m := range p.emissions {
		emit(m.to, m.element)
	}
	err := p.cause()
	p.Abandon()
	return err
}

// Abandon ends the goroutines of a bundle that the runner has abandoned. It may be called after Finish.
func (p *Pool[E]) Abandon() {
	if p != nil {
		p.fail(errAbandoned)
		p.wait()
	}
}
