package spill_test

import (
	"fmt"
	"log"

	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/kernel"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// The step that counts keeps its tables as a run and sends a reference to it; the step that merges, in the same process,
// finds the run by the reference.
func Example() {
	params := spill.Params{ID: "example", Local: true, MemoryBytes: 64 << 20}

	counting := spill.Open(params)
	counting.AddWorkers(1)
	counter := kernel.NewCounter(kernel.Config{MemoryBytes: counting.TableBytes})
	counter.Add([]byte("Hamilton"), []byte("upon the whole"))
	if !counting.Reserve(counter.Bytes()) {
		log.Fatal("no room: write the run to a file instead, with counting.NewFile().Write")
	}
	const shards = 1
	reference := counting.Add(counter.Take(shards), shards)
	counting.AddWorkers(-1)

	merging := spill.Open(params)
	run, err := merging.Find(reference)
	if err != nil {
		log.Fatal(err)
	}
	classes, err := block.NewClasses([]string{"Hamilton"})
	if err != nil {
		log.Fatal(err)
	}
	sources, err := run.Shard(0, classes)
	if err != nil {
		log.Fatal(err)
	}
	err = block.MergeSources(sources, 1, func(f *block.Feature) error {
		fmt.Println(string(f.Name), f.Counts)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := merging.Done(reference); err != nil {
		log.Fatal(err)
	}
	fmt.Println(merging.Held(), "bytes are held")

	if err := spill.Release(params.ID); err != nil { // the command does it when the job has ended
		log.Fatal(err)
	}
	// Unordered output:
	// upon [{0 1 1}]
	// the [{0 1 1}]
	// whole [{0 1 1}]
	// 0 bytes are held
}
