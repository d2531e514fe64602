package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// loop is the bare loop: it reads a file, 256 KB at a time, and counts its documents. With several threads each has a
// part of the file and separate tables, which are not merged.
func loop(name, threads, ngrams string) (err error) {
	n, err := strconv.Atoi(threads)
	if err != nil {
		return err
	}
	var a kernel.Analyzer
	if _, err := fmt.Sscanf(ngrams, "%d,%d", &a.Min, &a.Max); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			start, end := info.Size()*int64(i)/int64(n), info.Size()*int64(i+1)/int64(n)
			errs[i] = count(io.NewSectionReader(f, start, end-start), a)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// count counts the lines of a part; the one that is cut at each end counts as two.
func count(r io.Reader, a kernel.Analyzer) error {
	c := kernel.NewCounter(kernel.Config{Analyzer: a})
	buffer := make([]byte, 256<<10)
	documents, held := 0, 0
	for {
		n, err := r.Read(buffer[held:])
		rest := buffer[:held+n]
		for {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			label, text, _ := bytes.Cut(rest[:end], []byte{'\t'})
			c.Add(label, text)
			documents++
			rest = rest[end+1:]
		}
		if held = copy(buffer, rest); held == len(buffer) {
			buffer = append(buffer, make([]byte, len(buffer))...)
		}
		if errors.Is(err, io.EOF) {
			fmt.Println(documents, "documents")
			return nil
		}
		if err != nil {
			return err
		}
	}
}
