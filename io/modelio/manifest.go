package modelio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/tableio"
)

// ManifestVersion is the version of manifest.json.
//
//	1  the first
const ManifestVersion = 1

// Run identifies a run. Runs with equal fingerprints write equal Parquet files.
type Run struct {
	ID          string            `json:"run_id"`
	Fingerprint string            `json:"fingerprint"` // of the command, the options and the inputs
	Verb        string            `json:"verb"`
	Options     map[string]string `json:"options"` // that affect the result
	Version     string            `json:"version"` // of the program
	Started     time.Time         `json:"started"`
}

// Manifest describes a published run. Of its files, only the manifest may differ between runs with equal fingerprints.
type Manifest struct {
	FormatVersion int `json:"format_version"`
	Run
	Finished time.Time            `json:"finished"`
	Analyzer *Analyzer            `json:"analyzer,omitempty"` // null for a custom table
	Classes  []Class              `json:"classes"`
	Features int64                `json:"features"` // m
	Inputs   []Input              `json:"inputs,omitempty"`
	Counts   *Counts              `json:"counts,omitempty"` // the input of select
	Drops    Drops                `json:"drops"`
	Examples []corpusio.Rejection `json:"rejected_examples,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Files    []tableio.FileSum    `json:"files"`

	Tables string `json:"table_format_version,omitempty"` // tableio.FormatVersion of the Parquet files; empty before 3
}

// Parts returns the files of the counts that the run published; there are none if it read the counts of another.
func (m Manifest) Parts() (parts []tableio.FileSum) {
	for _, f := range m.Files {
		if countio.IsPart(f.Name) {
			parts = append(parts, f)
		}
	}
	return parts
}

// SameHash reports whether feature_id in the tables of the run uses the current hash.
func (m Manifest) SameHash() bool { return m.Tables == tableio.FormatVersion }

// Class is a class and its totals. Documents is null if only counts are known.
type Class struct {
	Label     string  `json:"label"`
	Documents *int64  `json:"documents"`
	Tokens    float64 `json:"tokens"`             // occurrences of features
	Postings  float64 `json:"postings,omitempty"` // pairs of a document and a feature that occurs in it
}

// Input is an input file, with the CRC-32C of the bytes that were read.
type Input struct {
	corpusio.File
	CRC32C string `json:"crc32c"`
}

// Counts is the input of select: the output folder of a run, or a custom table.
type Counts struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of the table, or of the manifest of the run
}

// Drops counts what was read but not counted, by reason.
type Drops struct {
	Lines      map[corpusio.Reason]int64 `json:"rejected_lines"`
	BlankLines int64                     `json:"blank_lines"`
	Headers    int64                     `json:"header_lines,omitempty"` // skipped by --header
	StopWords  int64                     `json:"stop_words"`
	Overlong   int64                     `json:"overlong_words"`
	Replaced   int64                     `json:"replaced_bytes"` // invalid UTF-8 sequences

	// Of values that are rounded to multiples of a unit.
	RoundedToZero int64   `json:"rounded_to_zero,omitempty"` // values above 0 that were too small to be counted
	Rounding      float64 `json:"rounding_error,omitempty"`  // the sum of the absolute differences, at most
}

// Success is the content of _SUCCESS.
type Success struct {
	Run            string `json:"run_id"`
	Fingerprint    string `json:"fingerprint"`
	ManifestSHA256 string `json:"manifest_sha256"`
}

// UnreadableError is a malformed JSON file of a run.
type UnreadableError struct {
	Name string
	Err  error
}

// Error names the file.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%s: malformed file (%v)", e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *UnreadableError) Unwrap() error { return e.Err }

// MaxManifest is the maximum size of a manifest in bytes. An input file takes about 200.
const MaxManifest = 256 << 20

// maxJSON is the maximum size of other JSON files.
const maxJSON = 1 << 20

// readJSON reads a JSON file, or reports that it does not exist.
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

type versions struct {
	Manifest int    `json:"format_version"`
	Tables   string `json:"table_format_version"`
}

// ReadManifest reads the manifest of a published run. Manifests have version 1; [tableio.CheckVersion] has the formats of
// tables, which the manifests of formats 1 and 2 omit. A file that is not a manifest is an [*UnreadableError].
func ReadManifest(ctx context.Context, dir string) (m Manifest, err error) {
	name := fileio.Join(dir, ManifestFile)
	b, err := fileio.ReadAll(ctx, name, MaxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return m, NotPublished(dir, ManifestFile)
	}
	if err != nil {
		return m, err
	}
	var version versions // first: a newer version may use other types
	err = json.Unmarshal(b, &version)
	switch {
	case err != nil:
		return m, &UnreadableError{name, err}
	case version.Manifest > ManifestVersion:
		return m, fmt.Errorf("%s: written by a newer version of sparsenb (manifest format %d); upgrade sparsenb", name, version.Manifest)
	case version.Manifest < 1:
		return m, &UnreadableError{name, fmt.Errorf("unknown manifest format %d", version.Manifest)}
	}
	if err := tableio.CheckVersion(version.Tables); err != nil {
		return m, fmt.Errorf("%s: %w", name, err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, &UnreadableError{name, err}
	}
	if _, err := ParseAnalysis(m.Options); err != nil {
		return m, &UnreadableError{name, fmt.Errorf("options: %w", err)}
	}
	for i, c := range m.Classes[min(1, len(m.Classes)):] {
		if c.Label <= m.Classes[i].Label {
			return m, &UnreadableError{name, fmt.Errorf("classes: %.100q and %.100q are not in order", m.Classes[i].Label, c.Label)}
		}
	}
	return m, nil
}
