package pipeline

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// Documents says what to count, and how. Validate checks it.
type Documents struct {
	Files       []corpusio.File    // required
	Reading     corpusio.Reading   // how Files were listed and are read; MaxRecordBytes is required, at most MaxRecordBytes
	Analyzer    kernel.Analyzer    // default: words; at most MaxNgram units per feature
	HashBits    int                // count in 2^HashBits buckets; default 0, by name
	StopWords   []string           // default none; only for tokens, not for characters
	Weights     kernel.Weights     // what a document adds up; default its occurrences, or its values if Files are matrices
	MaxRejected transforms.Budget  // required: malformed records tolerated
	Rejects     transforms.Rejects // default: rejected records are only counted
	MaxClasses  int                // at most MaxClasses; default any number
	Shards      int                // required, at most MaxShards: files of counts
	Tuning      Tuning
}

// Tuning changes how the counting is done, never its result. Zero values are the defaults.
type Tuning struct {
	RangeBytes  int64  // of an uncompressed file that a worker reads at a time; default 8 MiB
	Threads     int    // see transforms.CountParams, also for BlockBytes
	MemoryBytes int    // of the tables and runs of counts of a process; see spill.Params
	BlockBytes  int    //
	Spill       bool   // the workers are in this process, and pass counts in memory and in temporary files
	TempDir     string // of these files; default the system's
}

// Counting returns how the text is counted; with kernel.TFIDF, in the first of two readings.
func (d Documents) Counting() kernel.Config {
	c := kernel.Config{Analyzer: d.Analyzer, HashBits: d.HashBits, Weights: d.weights()}
	if c.Weights.Scheme == kernel.TFIDF {
		c.Weights = d.firstWeights()
	}
	for _, word := range d.StopWords {
		c.StopWords = append(c.StopWords, []byte(word))
	}
	return c
}

// analyzer returns the full description of the features, for the manifest and the model.
func (d Documents) analyzer() *modelio.Analyzer {
	c := d.Counting()
	c.Weights = d.weights()
	return c.Describe()
}

// options returns the options that decide which documents are counted, and how.
func (d Documents) options() map[string]string {
	options := d.analyzer().Analysis().Options()
	maps.Copy(options, d.readingOptions())
	if d.MaxClasses > 0 {
		options["max_classes"] = strconv.Itoa(d.MaxClasses)
	}
	return options
}

// readingOptions returns the options that decide which documents are read.
func (d Documents) readingOptions() map[string]string {
	options := d.Reading.Options()
	options["max_rejected"] = d.MaxRejected.Text
	if d.Rejects.Output != "" {
		options["rejects_output"] = d.Rejects.Output
	}
	if d.Rejects.Samples {
		options["log_samples"] = "true"
	}
	options["shards"] = strconv.Itoa(d.Shards)
	return options
}

// NewRun returns a run of a command, with a new id. documents, counts and sel are nil if the command has none.
func NewRun(verb, version string, documents *Documents, counts *selection.Counts, sel *selection.Params) modelio.Run {
	options := map[string]string{}
	var from any
	if documents != nil {
		maps.Copy(options, documents.options())
		from = documents.Files
	}
	if counts != nil {
		maps.Copy(options, counts.Options())
		from = counts.From
	}
	if sel != nil {
		maps.Copy(options, sel.Options())
	}
	return newRun(verb, version, options, from)
}

// newRun returns a run with a new id. from is its input.
func newRun(verb, version string, options map[string]string, from any) modelio.Run {
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

// fingerprint returns a hash of everything that determines the bytes of a run's tables, other than the program.
func fingerprint(verb string, options map[string]string, from any) string {
	content, err := json.Marshal([]any{verb, tableio.FormatVersion, modelio.ManifestVersion, options, from})
	if err != nil {
		panic("pipeline.fingerprint: " + err.Error()) // of strings and numbers
	}
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}
