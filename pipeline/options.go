package pipeline

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Documents says what to count, and how.
type Documents struct {
	Files          []corpusio.File
	Analyzer       kernel.Analyzer
	HashBits       int // features are counted in 2^HashBits buckets; 0 means by name
	StopWords      []string
	MaxRejected    transforms.Budget
	MaxRecordBytes int
	MaxClasses     int // 0 means any number
	Header         corpusio.Header
	Shards         int
	Tuning         Tuning
}

// Tuning changes how the counting is done, never its result. Zero stands for the default.
type Tuning struct {
	RangeBytes  int64 // of a plain file that a worker reads at a time; default 8 MiB
	Threads     int   // see transforms.CountParams
	MemoryBytes int
	BlockBytes  int
	Spill       bool   // counting and merging are in one process, which keeps runs of counts in memory and in temporary files
	TempDir     string // of these files; "" is the system's
	KeyBits     int    // other than the rest, it changes feature_id; for tests alone
}

// Counts is where a selection finds counts that were made before.
type Counts struct {
	Source  countio.Source
	Files   []tableio.FileSum // the parts; for a table of the user's own, one with its name
	Classes []modelio.Class
	From    modelio.Counts // for the manifest
	Threads int            // goroutines that read in a bundle; default: as many as there are processors

	Analysis map[string]string // the options that say what the features of a run are
	Analyzer *modelio.Analyzer // the same in full; nil for a table of the user's own
}

// analyzer says in full what the features of the documents are.
func (d Documents) analyzer() *modelio.Analyzer {
	least, most := d.Analyzer.Sizes()
	a := modelio.Analyzer{Unit: d.Analyzer.Unit.String(), Ngrams: [2]int{least, most}, Lowercase: modelio.FullLowercase, HashBits: d.HashBits}
	if d.Analyzer.Unit == kernel.Word {
		a.TokenPattern = kernel.TokenPattern
		a.StopWords = slices.Compact(slices.Sorted(slices.Values(d.StopWords)))
	}
	return &a
}

// NewRun names a run of the given verb. documents, counts and selection are nil where the verb has none.
func NewRun(verb, version string, documents *Documents, counts *Counts, sel *selection.Params) modelio.Run {
	options := map[string]string{}
	var from any
	if documents != nil {
		options["analyzer"] = documents.Analyzer.Unit.String()
		if least, most := documents.Analyzer.Sizes(); most > 1 {
			options["ngrams"] = fmt.Sprintf("%d,%d", least, most)
		}
		if documents.HashBits > 0 {
			options["hash_bits"] = strconv.Itoa(documents.HashBits)
		}
		options["max_rejected"] = documents.MaxRejected.Text
		options["max_record_bytes"] = strconv.Itoa(documents.MaxRecordBytes)
		if documents.MaxClasses > 0 {
			options["max_classes"] = strconv.Itoa(documents.MaxClasses)
		}
		if documents.Header != corpusio.Unknown {
			options["header"] = strconv.FormatBool(documents.Header == corpusio.Present)
		}
		options["shards"] = strconv.Itoa(documents.Shards)
		if words := documents.analyzer().StopWords; len(words) > 0 {
			hash := sha256.Sum256([]byte(strings.Join(words, "\n")))
			options["stop_words"] = fmt.Sprintf("%d words, sha256 %x", len(words), hash)
		}
		from = documents.Files
	}
	if counts != nil {
		from = counts.From
		maps.Copy(options, counts.Analysis)
		var documents []string
		for _, c := range counts.Classes {
			if counts.Source.Table != "" && c.Documents != nil {
				documents = append(documents, fmt.Sprintf("%s=%d", c.Label, *c.Documents))
			}
		}
		if len(documents) > 0 {
			options["class_documents"] = strings.Join(documents, ",")
		}
	}
	if sel != nil {
		var ks []string
		for _, k := range sel.K {
			ks = append(ks, k.Text)
		}
		options["k"] = strings.Join(ks, ",")
		options["model"] = sel.Model.String()
		options["method"] = sel.Method.String()
		options["strategy"] = string(sel.Strategy)
		var smoothing []string
		for _, a := range sel.Smoothing {
			smoothing = append(smoothing, strconv.FormatFloat(a, 'g', -1, 64))
		}
		options["smoothing"] = strings.Join(smoothing, ",")
		if sel.Positive != "" {
			options["positive"] = sel.Positive
		}
	}
	now := time.Now().UTC()
	return modelio.Run{
		ID:          now.Format("20060102T150405Z-") + strings.ToLower(rand.Text()[:8]),
		Fingerprint: fingerprint(verb, options, from),
		Verb:        verb,
		Options:     options,
		Version:     version,
		Started:     now,
	}
}

// fingerprint is a hash of all that decides the bytes that a run writes, beside the program itself.
func fingerprint(verb string, options map[string]string, from any) string {
	content, err := json.Marshal([]any{verb, tableio.FormatVersion, modelio.ManifestVersion, options, from})
	if err != nil {
		panic("pipeline.fingerprint: " + err.Error()) // of strings and numbers
	}
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}
