package transforms

import (
	"github.com/sparsenb/sparsenb/transforms/block"
	"github.com/sparsenb/sparsenb/transforms/spill"
)

// shardInput is what has come of one shard: count blocks, or references to runs of counts in this process.
type shardInput struct {
	area       string
	keys       block.Keys
	classes    *block.Classes
	blocks     [][]byte
	runs       []spill.Run
	references [][]byte // to the runs
}

// mergeBytes is how many bytes of blocks are kept before they are merged into one. Blocks of many bundles repeat each
// other's features, so what is left is about the size of the shard.
const mergeBytes = 64 << 20

// collect takes what has come of a shard. Blocks are merged if they are many.
func collect(area string, keys block.Keys, classes *block.Classes, next func(*[]byte) bool) (in shardInput, err error) {
	in.area, in.keys, in.classes = area, keys, classes
	size, limit := 0, mergeBytes
	var b []byte
	for next(&b) {
		if spill.IsReference(b) {
			run, err := spill.Find(area, b)
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

// open returns the sorted lists that are to be merged.
func (in shardInput) open(shard int) (sources []block.Source, err error) {
	if sources, err = block.OpenAll(in.keys, in.classes, in.blocks); err != nil {
		return nil, err
	}
	for _, r := range in.runs {
		more, err := r.Shard(shard, in.classes)
		if err != nil {
			return nil, err
		}
		sources = append(sources, more...)
	}
	return sources, nil
}

// done says that the shard was merged.
func (in shardInput) done() error {
	for _, reference := range in.references {
		if err := spill.Done(in.area, reference); err != nil {
			return err
		}
	}
	return nil
}
