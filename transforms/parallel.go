package transforms

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// workers do the elements of a bundle in several goroutines, whatever the number of bundles: a local runner makes one
// bundle of all elements. ProcessElement hands them over and FinishBundle waits for the rest; Beam wants what they emit to come
// from its own goroutine, so that both pass it on.
type workers struct {
	tasks     chan task
	emissions chan emission
	ctx       context.Context // ends when a task has failed, or the bundle was given up
	fail      context.CancelCauseFunc
	alone     bool // there is one goroutine, and it is Beam's: on an engine the elements of a bundle come one after the other
}

// task is the work on one element. It emits to the place among the emitters of the DoFn.
type task func(ctx context.Context, emit func(to int, element []byte)) error

type emission struct {
	to      int
	element []byte
}

// panicked is what a task has panicked with.
type panicked struct{ value any }

func (panicked) Error() string { return "a task has panicked" }

// catchPanic is deferred by a goroutine, in which a panic would end the process: causeOf has it go on where Beam sees it.
func catchPanic(fail context.CancelCauseFunc) {
	if p := recover(); p != nil {
		fail(panicked{p})
	}
}

// causeOf is why the work has ended early, if it has. A panic goes on.
func causeOf(ctx context.Context) error {
	err := context.Cause(ctx)
	var p panicked
	if errors.As(err, &p) {
		panic(p.value)
	}
	return err
}

var errAbandoned = errors.New("the runner has given the bundle up")

// startWorkers starts so many goroutines; 0 stands for as many as there are processors.
func startWorkers(ctx context.Context, threads int) *workers {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	ctx, fail := context.WithCancelCause(ctx)
	w := &workers{tasks: make(chan task, queueSize(threads)), emissions: make(chan emission), ctx: ctx, fail: fail, alone: threads == 1}
	if w.alone {
		close(w.emissions)
		return w
	}
	var wg sync.WaitGroup
	for range threads {
		wg.Go(w.run)
	}
	go func() {
		wg.Wait()
		close(w.emissions)
	}()
	return w
}

// queueSize is how many elements of a bundle wait for so many goroutines. All do, but on an engine, which has one for each
// bundle: Prism splits a bundle of which the elements are taken slowly, and would have several at once, each with goroutines
// and tables of its own; six were seen.
func queueSize(threads int) int {
	if threads == 1 {
		return 0
	}
	return 1 << 16
}

func (w *workers) run() {
	defer catchPanic(w.fail)
	emit := func(to int, element []byte) {
		select {
		case w.emissions <- emission{to, element}:
		case <-w.ctx.Done(): // nobody waits for it
		}
	}
	for {
		select {
		case <-w.ctx.Done():
			return
		case t, ok := <-w.tasks:
			if !ok {
				return
			}
			if err := t(w.ctx, emit); err != nil {
				w.fail(err)
			}
		}
	}
}

// do hands a task over, as soon as a goroutine is free.
func (w *workers) do(t task, emitters ...func([]byte)) error {
	if w.alone {
		return t(w.ctx, func(to int, element []byte) { emitters[to](element) })
	}
	for w.ctx.Err() == nil {
		select {
		case w.tasks <- t:
			return nil
		case e, ok := <-w.emissions:
			if ok {
				emitters[e.to](e.element)
			} else { // all goroutines have ended, which before finish means that the work has failed
				return causeOf(w.ctx)
			}
		case <-w.ctx.Done():
		}
	}
	w.wait()
	return causeOf(w.ctx)
}

// wait waits until no goroutine does anything any more, such as to make a file.
func (w *workers) wait() {
	for range w.emissions {
	}
}

// finish waits until all tasks are done. A bundle without elements has none, and no workers.
func (w *workers) finish(emitters ...func([]byte)) error {
	if w == nil {
		return nil
	}
	close(w.tasks)
	for e := range w.emissions {
		emitters[e.to](e.element)
	}
	err := causeOf(w.ctx)
	w.abandon()
	return err
}

// abandon ends the goroutines of a bundle that the runner has given up.
func (w *workers) abandon() {
	if w != nil {
		w.fail(errAbandoned)
		w.wait()
	}
}
