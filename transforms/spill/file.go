package spill

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"

	"github.com/sparsenb/sparsenb/transforms/block"
)

// BlockBytes is the size of the blocks in a file. A merge holds one block of each run in memory.
const BlockBytes = 32 << 10

// File is a temporary file to which one goroutine appends runs.
type File struct {
	job    *Job
	file   *os.File
	end    int64
	buffer *bufio.Writer
}

// NewFile returns a file that is created when the first run is written.
func (j *Job) NewFile() *File { return &File{job: j} }

// Write appends a run: flush emits its blocks in the order of their shards.
func (f *File) Write(shards int, keys block.Keys, flush func(emit func(shard int, b []byte) error) error) (Run, error) {
	if f.file == nil {
		file, err := f.job.create()
		if err != nil {
			return nil, err
		}
		f.file, f.buffer = file, bufio.NewWriterSize(file, 1<<20)
	}
	r := &fileRun{file: f.file, keys: keys, ends: make([]int64, shards+1)}
	at := 0 // current shard
	r.ends[0] = f.end
	var length [4]byte
	err := flush(func(shard int, b []byte) error {
		for ; at < shard; at++ {
			r.ends[at+1] = f.end
		}
		binary.LittleEndian.PutUint32(length[:], uint32(len(b)))
		if _, err := f.buffer.Write(length[:]); err != nil {
			return explain(err)
		}
		if _, err := f.buffer.Write(b); err != nil {
			return explain(err)
		}
		f.end += int64(len(length) + len(b))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for ; at < shards; at++ {
		r.ends[at+1] = f.end
	}
	if err := f.buffer.Flush(); err != nil {
		return nil, explain(err)
	}
	return r, nil
}

// fileRun is a run in a file: blocks, each after its length in 4 bytes.
type fileRun struct {
	file *os.File
	keys block.Keys
	ends []int64 // shard i is from ends[i] to ends[i+1] in the file
}

func (r *fileRun) Bytes() int { return 0 }

func (r *fileRun) Shard(shard int, classes *block.Classes) ([]block.Source, error) {
	if r.ends[shard] == r.ends[shard+1] {
		return nil, nil
	}
	return []block.Source{&chain{keys: r.keys, classes: classes, at: r.ends[shard], end: r.ends[shard+1], file: r.file}}, nil
}

// chain is a block.Source that reads the blocks of a shard one after the other.
type chain struct {
	file    io.ReaderAt
	at, end int64
	keys    block.Keys
	classes *block.Classes
	buffer  []byte
	reader  *block.Reader
	feature *block.Feature
	err     error
}

func (c *chain) Next() bool {
	for {
		if c.reader != nil && c.reader.Next() {
			c.feature = c.reader.Feature()
			return true
		}
		if c.reader != nil && c.reader.Err() != nil {
			c.err = c.reader.Err()
		}
		if c.err != nil || c.at == c.end || !c.open() {
			return false
		}
	}
}

// open reads the next block.
func (c *chain) open() bool {
	var length [4]byte
	if _, c.err = c.file.ReadAt(length[:], c.at); c.err != nil {
		return false
	}
	n := int(binary.LittleEndian.Uint32(length[:]))
	if cap(c.buffer) < n {
		c.buffer = make([]byte, n)
	}
	c.buffer = c.buffer[:n]
	if _, c.err = c.file.ReadAt(c.buffer, c.at+int64(len(length))); c.err != nil {
		return false
	}
	c.at += int64(len(length) + n)
	c.reader, c.err = block.Open(c.buffer, c.keys, c.classes)
	return c.err == nil
}

func (c *chain) Feature() *block.Feature { return c.feature }

func (c *chain) Err() error { return c.err }
