package transforms

import (
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// shardInput has the counts of one shard: count blocks, or references to runs of counts in this process.
type shardInput struct {
	shard      int
	job        *spill.Job
	keys       block.Keys
	classes    *block.Classes
	blocks     [][]byte
	runs       []spill.Run
	references [][]byte // to the runs
}

// mergeBytes is how many bytes of blocks are kept before they are merged into one. Blocks of different bundles have many
// features in common, so that the merged block is about as large as the shard's counts.
const mergeBytes = 64 << 20

// collect reads the counts of a shard from an iterator of Beam. It merges blocks when they are many.
func collect(job *spill.Job, shard int, keys block.Keys, classes *block.Classes, next func(*[]byte) bool) (in shardInput, err error) {
	in = shardInput{job: job, shard: shard, keys: keys, classes: classes}
	size, limit := 0, mergeBytes
	var b []byte
	for next(&b) {
		if spill.IsReference(b) {
			run, err := job.Find(b)
			if err != nil {
				return in, err
			}
			in.runs, in.references = append(in.runs, run), append(in.references, b)
			continue
		}
		in.blocks = append(in.blocks, b)
		if size += len(b); size > limit {
			merged, err := block.Merge(keys, classes, in.blocks...)
			if err != nil {
				return in, err
			}
			in.blocks, size, limit = [][]byte{merged}, len(merged), max(mergeBytes, 2*len(merged))
		}
	}
	return in, nil
}

// open returns the sorted lists of features to merge.
func (in shardInput) open() (sources []block.Source, err error) {
	if sources, err = block.OpenAll(in.keys, in.classes, in.blocks); err != nil {
		return nil, err
	}
	for _, r := range in.runs {
		more, err := r.Shard(in.shard, in.classes)
		if err != nil {
			return nil, err
		}
		sources = append(sources, more...)
	}
	return sources, nil
}

// done frees the runs of which this was the last shard.
func (in shardInput) done() error {
	for _, reference := range in.references {
		if err := in.job.Done(reference); err != nil {
			return err
		}
	}
	return nil
}
