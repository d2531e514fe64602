package modelio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// ManifestVersion is the version of manifest.json.
//
//	1  the first
const ManifestVersion = 1

// Run identifies a run: what it was asked to do, and when. Equal fingerprints promise equal Parquet files.
type Run struct {
	ID          string            `json:"run_id"`
	Fingerprint string            `json:"fingerprint"` // of the verb, the options and the inputs
	Verb        string            `json:"verb"`
	Options     map[string]string `json:"options"` // those that decide the result
	Version     string            `json:"version"` // of the program
	Started     time.Time         `json:"started"`
}

// Manifest describes a published run. All that may differ between two runs that promise the same stands here.
type Manifest struct {
	FormatVersion int `json:"format_version"`
	Run
	Finished time.Time            `json:"finished"`
	Analyzer *Analyzer            `json:"analyzer,omitempty"` // null for a table of the user's own
	Classes  []Class              `json:"classes"`
	Features int64                `json:"features"` // m
	Inputs   []Input              `json:"inputs,omitempty"`
	Counts   *Counts              `json:"counts,omitempty"` // what select read
	Drops    Drops                `json:"drops"`
	Examples []corpusio.Rejection `json:"rejected_examples,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Files    []tableio.FileSum    `json:"files"`

	Tables string `json:"table_format_version,omitempty"` // tableio.FormatVersion of the Parquet files; empty before 3
}

// SameHash reports whether the ids of the run's features are of the hash in use.
func (m Manifest) SameHash() bool { return m.Tables == tableio.FormatVersion }

// Class is a class with its documents and its tokens. Documents is null where only counts are known.
type Class struct {
	Label     string  `json:"label"`
	Documents *int64  `json:"documents"`
	Tokens    float64 `json:"tokens"`             // occurrences of features
	Postings  float64 `json:"postings,omitempty"` // pairs of a document and a feature in it
}

// Input is a file of documents, with the CRC-32C of what was read.
type Input struct {
	corpusio.File
	CRC32C string `json:"crc32c"`
}

// Counts is where select found its counts: the output of a run, or a table of the user's own.
type Counts struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of the table, or of the run's manifest
}

// Drops counts everything that was read and not counted, by reason.
type Drops struct {
	Lines      map[corpusio.Reason]int64 `json:"rejected_lines"`
	BlankLines int64                     `json:"blank_lines"`
	Headers    int64                     `json:"header_lines,omitempty"` // skipped by --header
	StopWords  int64                     `json:"stop_words"`
	Overlong   int64                     `json:"overlong_words"`
	Replaced   int64                     `json:"replaced_bytes"` // sequences that were not UTF-8
}

// Success is the content of _SUCCESS.
type Success struct {
	Run            string `json:"run_id"`
	Fingerprint    string `json:"fingerprint"`
	ManifestSHA256 string `json:"manifest_sha256"`
}

// UnreadableError is a file of a run that does not hold what this program writes there.
type UnreadableError struct {
	Name string
	Err  error
}

// Error names the file.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s: is not as sparsenb writes it (%v)", e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// MaxManifest is the most bytes of a manifest that are read. It has about 200 for each file of the input.
const MaxManifest = 256 << 20

// maxJSON is the same of the other JSON files of a run.
const maxJSON = 1 << 20

// readJSON reads a small file, or reports that it is not there.
func readJSON[T any](ctx context.Context, dir, name string) (value T, found bool, err error) {
	most := int64(maxJSON)
	if name == ManifestFile {
		most = MaxManifest
	}
	name = fileio.Join(dir, name)
	b, err := fileio.ReadAll(ctx, name, most)
	if errors.Is(err, fs.ErrNotExist) {
		return value, false, nil
	}
	if err != nil {
		return value, false, err
	}
	if err := json.Unmarshal(b, &value); err != nil {
		return value, false, &UnreadableError{name, err}
	}
	return value, true, nil
}

// ReadManifest reads the manifest of a published run.
func ReadManifest(ctx context.Context, dir string) (Manifest, error) {
	m, found, err := readJSON[Manifest](ctx, dir, ManifestFile)
	switch {
	case err != nil:
		return m, err
	case !found:
		return m, fmt.Errorf("%s: no run was published here: there is no %s", dir, ManifestFile)
	case m.FormatVersion != ManifestVersion:
		return m, fmt.Errorf("%s: the manifest has version %d, and this program reads %d", dir, m.FormatVersion, ManifestVersion)
	}
	return m, nil
}
