package corpusio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/sparsenb/sparsenb/io/fileio"
)

// featureNames are the lines of a file: line 1 is the first.
type featureNames struct {
	file string
	text []byte
	ends []uint32 // of each line, in text
}

// maxNames is the maximum length of all names together, in bytes.
const maxNames = 1 << 31

// line returns a line, numbered from 1, or nil if there is none.
func (n *featureNames) line(i uint64) []byte {
	if i == 0 || i > uint64(len(n.ends)) {
		return nil
	}
	start := uint32(0)
	if i > 1 {
		start = n.ends[i-2]
	}
	return n.text[start:n.ends[i-1]]
}

// loaded has the names of each file, which all ranges of a process share.
var loaded struct {
	sync.Mutex
	names map[fileio.Info]*featureNames
}

// loadNames reads the file of names that reading says, once per process. It returns nil if reading says none.
func loadNames(ctx context.Context, reading Reading) (*featureNames, error) {
	if reading.FeatureNames == "" {
		return nil, nil
	}
	store, err := fileio.For(reading.FeatureNames)
	if err != nil {
		return nil, err
	}
	info, err := store.Stat(ctx, reading.FeatureNames)
	if err != nil {
		return nil, &LayoutError{reading.FeatureNames, fmt.Sprintf("the names of the features cannot be read (--feature_names): %v", err)}
	}
	if reading.NamesVersion != "" && info.Version != reading.NamesVersion {
		return nil, fmt.Errorf("%s: the file has changed since the run started (--feature_names)", reading.FeatureNames)
	}
	loaded.Lock() // also while the file is read, which others wait for
	defer loaded.Unlock()
	names := loaded.names[info]
	if names == nil {
		if names, err = readNames(ctx, store, info, reading); err != nil {
			return nil, err
		}
		loaded.names = map[fileio.Info]*featureNames{info: names}
	}
	return names, nil
}

func readNames(ctx context.Context, store fileio.Store, info fileio.Info, reading Reading) (*featureNames, error) {
	f := File{Info: info}
	var err error
	if f.Compression, err = detectCompression(ctx, store, info.Name); err != nil {
		return nil, err
	}
	l, err := openLines(ctx, Range{f, 0, f.Size}, reading)
	if err != nil {
		return nil, err
	}
	names := &featureNames{file: path.Base(info.Name)}
	for {
		line, _, ok := l.next()
		if !ok {
			break
		}
		if len(names.text)+len(line) > maxNames || line == nil {
			return nil, errors.Join(&LayoutError{info.Name, fmt.Sprintf("the names of the features (--feature_names) have more than %d bytes, or one is longer than --max_record_bytes", maxNames)}, l.Abandon())
		}
		names.text = append(names.text, line...)
		names.ends = append(names.ends, uint32(len(names.text)))
	}
	if err := l.Close(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return names, nil
}
