package modelio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
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
	Files    []countio.FileSum    `json:"files"`

	Tables string `json:"table_format_version,omitempty"` // countio.FormatVersion of the Parquet files; empty before 3
}

// Parts returns the files of the counts that the run published; there are none if it read the counts of another.
func (m Manifest) Parts() (parts []countio.FileSum) {
	for _, f := range m.Files {
		if countio.IsPart(f.Name) {
			parts = append(parts, f)
		}
	}
	return parts
}

// SameHash reports whether the ids of the run's features are of the hash in use.
func (m Manifest) SameHash() bool { return m.Tables == countio.FormatVersion }

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

// maxJSON is the most bytes of the other JSON files of a run that are read.
const maxJSON = 1 << 20

// readJSON reads a small file, or reports that it is not there.
func readJSON[T any](ctx context.Context, dir, name string) (value T, found bool, err error) {
	name = fileio.Join(dir, name)
	b, err := fileio.ReadAll(ctx, name, maxJSON)
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

// VersionError is a file of a run whose format this program does not read.
type VersionError struct{ File, Format string }

// Error names the file and its format.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: %s is not supported; the run was probably published by a newer version of sparsenb: upgrade sparsenb", e.File, e.Format)
}

// ReadManifest reads the manifest of a published run. Manifests have version 1; the tables of the run have format 1, 2 or
// [countio.FormatVersion], and manifests of formats 1 and 2 do not say so. The error is a [*VersionError] for any other version, and an
// [*UnreadableError] for a file that is not a manifest.
func ReadManifest(ctx context.Context, dir string) (m Manifest, err error) {
	name := fileio.Join(dir, ManifestFile)
	b, err := fileio.ReadAll(ctx, name, MaxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s: no run was published here: there is no %s", dir, ManifestFile)
	}
	if err != nil {
		return m, err
	}
	var version struct { // first: a newer version may use other types
		Manifest int    `json:"format_version"`
		Tables   string `json:"table_format_version"`
	}
	err = json.Unmarshal(b, &version)
	switch {
	case err != nil:
		return m, &UnreadableError{name, err}
	case version.Manifest != ManifestVersion:
		return m, &VersionError{name, fmt.Sprintf("manifest version %d", version.Manifest)}
	case !slices.Contains([]string{"", "1", "2", countio.FormatVersion}, version.Tables):
		return m, &VersionError{name, fmt.Sprintf("table format %.20q", version.Tables)}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, &UnreadableError{name, err}
	}
	if _, err := ParseAnalysis(m.Options); err != nil {
		return m, &UnreadableError{name, err}
	}
	return m, nil
}
