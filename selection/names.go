package selection

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/fileio"
)

// Names is a file of names of features, one on each line. The name of a feature may begin or end with spaces, so only the end of
// the line is removed. Empty lines and repeated names are ignored.
type Names struct {
	File   string // absolute
	Count  int64  // distinct names
	SHA256 string // of the file
	Inline []byte // the content, if it is small enough to travel with the job; workers read a larger file themselves
}

// Limits of a file of names, in bytes.
const (
	MaxNamesFile = 64 << 20
	maxInline    = 256 << 10 // each step has a copy, and Dataflow accepts jobs of 10 MB
)

// ReadNames reads and checks a file of names.
func ReadNames(ctx context.Context, file string) (n Names, err error) {
	if n.File, err = fileio.Absolute(file); err != nil {
		return n, err
	}
	content, err := fileio.ReadAll(ctx, n.File, MaxNamesFile)
	if err != nil {
		return n, err
	}
	set, err := parseNameSet(content)
	if err != nil {
		return n, fmt.Errorf("%s: %w", n.File, err)
	}
	if n.Count = int64(len(set.entries)); n.Count == 0 {
		return n, fmt.Errorf("%s: has no names; it must have one on each line", n.File)
	}
	n.SHA256 = checksum(content)
	if len(content) <= maxInline {
		n.Inline = content
	}
	return n, nil
}

func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (n Names) given() bool { return n.SHA256 != "" }

// String identifies the names in the options of a run. It does not depend on where the file is.
func (n Names) String() string {
	if !n.given() {
		return ""
	}
	return fmt.Sprintf("%d names, sha256 %s", n.Count, n.SHA256)
}

func parseNames(text string) (n Names, err error) {
	count, sum, _ := strings.Cut(text, " names, sha256 ")
	n.Count, err = strconv.ParseInt(count, 10, 64)
	if b, e := hex.DecodeString(sum); err != nil || e != nil || len(b) != sha256.Size || n.Count < 1 {
		return n, fmt.Errorf("%q: must be a number of names and the SHA-256 of their file", text)
	}
	n.SHA256 = sum
	return n, nil
}

// loaded has the name sets of this process by checksum: every bundle of every step needs them.
var loaded sync.Map

// load returns the set of names, nil if none are given.
func (n Names) load(ctx context.Context) (*nameSet, error) {
	if !n.given() {
		return nil, nil
	}
	if set, ok := loaded.Load(n.SHA256); ok {
		return set.(*nameSet), nil
	}
	content := n.Inline
	if content == nil {
		var err error
		if content, err = fileio.ReadAll(ctx, n.File, MaxNamesFile); err != nil {
			return nil, err
		}
	}
	if checksum(content) != n.SHA256 {
		return nil, fmt.Errorf("%s: has changed since the run started", n.File)
	}
	set, err := parseNameSet(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.File, err)
	}
	loaded.Store(n.SHA256, set)
	return set, nil
}

// nameSet finds names by their keys. It has no pointers per name, and takes 16 bytes for each beside the content.
type nameSet struct {
	content []byte
	entries []nameEntry // sorted by key and name, distinct
}

// nameEntry is a name: content[start:start+size].
type nameEntry struct {
	key   uint64
	start uint32
	size  uint32
}

// parseNameSet refers to content, which must not change.
func parseNameSet(content []byte) (*nameSet, error) {
	s := &nameSet{content: content}
	start := 0
	if bytes.HasPrefix(content, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	for line := 1; start < len(content); line++ {
		end := bytes.IndexByte(content[start:], '\n')
		next := start + end + 1
		if end < 0 {
			end, next = len(content)-start, len(content)
		}
		name := bytes.TrimSuffix(content[start:start+end], []byte("\r"))
		switch {
		case !utf8.Valid(name):
			return nil, fmt.Errorf("line %d is not valid UTF-8: %s; the file must be text with one name on each line", line, strconv.QuoteToASCII(string(name[:min(len(name), 40)])))
		case len(name) > math.MaxUint16:
			return nil, fmt.Errorf("line %d has %d bytes; a name has at most %d", line, len(name), math.MaxUint16)
		case len(name) > 0:
			key, _ := feature.Hash(name)
			s.entries = append(s.entries, nameEntry{key, uint32(start), uint32(len(name))})
		}
		start = next
	}
	compare := func(a, b nameEntry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), bytes.Compare(s.name(a), s.name(b)))
	}
	slices.SortFunc(s.entries, compare)
	s.entries = slices.CompactFunc(s.entries, func(a, b nameEntry) bool { return compare(a, b) == 0 })
	return s, nil
}

func (s *nameSet) name(e nameEntry) []byte { return s.content[e.start : e.start+e.size] }

// find returns the index of a name, or -1. name is called only if the set has a name with the same key.
func (s *nameSet) find(key uint64, name func() ([]byte, error)) (int, error) {
	i, found := slices.BinarySearchFunc(s.entries, key, func(e nameEntry, key uint64) int { return cmp.Compare(e.key, key) })
	if !found {
		return -1, nil
	}
	wanted, err := name()
	if err != nil {
		return -1, err
	}
	for ; i < len(s.entries) && s.entries[i].key == key; i++ {
		if bytes.Equal(s.name(s.entries[i]), wanted) {
			return i, nil
		}
	}
	return -1, nil
}

// shard returns the range of the names whose features a shard counts.
func (s *nameSet) shard(shard, shards int) (from, to int) {
	first := func(shard int) int {
		i, _ := slices.BinarySearchFunc(s.entries, shard, func(e nameEntry, shard int) int { return cmp.Compare(feature.Shard(e.key, shards), shard) })
		return i
	}
	return first(shard), first(shard + 1)
}
