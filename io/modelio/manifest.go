package modelio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

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
	Model    *Counts              `json:"model,omitempty"`     // the run whose model was applied, see AppliesModel
	Read     int64                `json:"documents,omitempty"` // of such a run
	Features int64                `json:"features"`            // m, unless features were pruned
	Inputs   []Input              `json:"inputs,omitempty"`
	Counts   *Counts              `json:"counts,omitempty"` // the input of select
	Drops    Drops                `json:"drops"`
	Examples []corpusio.Rejection `json:"rejected_examples,omitempty"`
	Rejected *tableio.FileSum     `json:"rejects_output,omitempty"` // the file of --rejects_output, with its full name
	Warnings []string             `json:"warnings,omitempty"`
	Pruning  *Pruning             `json:"pruning,omitempty"` // nil if no features were pruned

	// Corrupt files, of which only the documents before the damage were counted, see --on_corrupt_file.
	Corrupt []corpusio.CorruptError `json:"corrupt_files,omitempty"`

	Files []tableio.FileSum `json:"files"`

	// MoreLabels is how many labels documents have beyond their first. The documents of the classes add up to that many more
	// than were read, since a document counts in each of its classes.
	MoreLabels int64 `json:"more_labels,omitempty"`

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

// Tunes reports whether the run compared models. It has no model, and its counts are by class and fold.
func (m Manifest) Tunes() bool { return m.Verb == "tune" }

// AppliesModel reports whether the run applied the model of another run to documents. It has no model of its own.
func (m Manifest) AppliesModel() bool { return m.Model != nil }

// Class is a class and its totals. Documents is null if only counts are known.
type Class struct {
	Label     string  `json:"label"`
	Documents *int64  `json:"documents"`
	Tokens    float64 `json:"tokens"`             // occurrences of features
	Postings  float64 `json:"postings,omitempty"` // pairs of a document and a feature that occurs in it
}

// Input is an input file, with the CRC-32C of its bytes. It has none if only some of them were read, as of Parquet.
type Input struct {
	corpusio.File
	CRC32C string `json:"crc32c,omitempty"`
}

// Counts is the input of select: the output folder of a run, or a custom table. Of predict and the like it is the run of the
// model.
type Counts struct {
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // of the table, or of the manifest of the run
}

// Drops counts what was read but not counted, by reason.
type Drops struct {
	Lines        map[corpusio.Reason]int64 `json:"rejected_lines"`
	BlankLines   int64                     `json:"blank_lines"`
	Headers      int64                     `json:"header_lines,omitempty"`  // skipped by --header
	OtherRecords int64                     `json:"other_records,omitempty"` // of web archives: what is not a page
	StopWords    int64                     `json:"stop_words"`
	Overlong     int64                     `json:"overlong_words"`
	Replaced     int64                     `json:"replaced_bytes"` // invalid UTF-8 sequences

	// Of values that are rounded to multiples of a unit.
	RoundedToZero int64   `json:"rounded_to_zero,omitempty"` // values above 0 that were too small to be counted
	Rounding      float64 `json:"rounding_error,omitempty"`  // the sum of the absolute differences, at most

	Files     []FileRejects `json:"rejected_by_file,omitempty"` // those with the most rejections, at most MaxRejectFiles
	MoreFiles int           `json:"more_files,omitempty"`       // with rejections, beside these

	OtherClasses OtherClasses `json:"other_classes,omitzero"`
}

// FileRejects counts the rejected records of a file, by reason.
type FileRejects struct {
	File    string                    `json:"file"`
	Records int64                     `json:"records"`
	Reasons map[corpusio.Reason]int64 `json:"reasons"`
}

// MaxRejectFiles is how many files with rejections are listed.
const MaxRejectFiles = 20

// TopFiles returns the files with the most rejections; files with equally many are in the order of their names.
func TopFiles(byFile map[string]map[corpusio.Reason]int64) (top []FileRejects, more int) {
	for file, reasons := range byFile {
		f := FileRejects{File: file, Reasons: reasons}
		for _, n := range reasons {
			f.Records += n
		}
		top = append(top, f)
	}
	slices.SortFunc(top, func(a, b FileRejects) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.File, b.File))
	})
	n := min(len(top), MaxRejectFiles)
	return top[:n], len(top) - n
}

// OtherClasses are the documents that have no label of --classes. A document with several labels may count in a class
// and also for a label that was left out.
type OtherClasses struct {
	Documents int64                 `json:"documents"`
	Labels    []corpusio.LabelCount `json:"labels"`            // those left out that have the most documents, at most MaxOtherLabels
	More      int                   `json:"more_labels"`       // left out, beside these
	Unnamed   int64                 `json:"unnamed,omitempty"` // documents of labels at and after Limit, which were not counted by name
	Limit     string                `json:"limit,omitempty"`   // in byte order; "" if all labels were counted by name
}

// MaxOtherLabels is how many labels that were left out are named.
const MaxOtherLabels = 20

// NewOtherClasses returns the documents of other classes, of which the labels are given.
func NewOtherClasses(documents int64, labels corpusio.LabelCounts) OtherClasses {
	top := labels.Top(MaxOtherLabels)
	return OtherClasses{documents, top, len(labels.ByName) - len(top), labels.Unnamed, labels.Limit}
}

// String lists the labels and the number of documents of each.
func (o OtherClasses) String() string {
	var list []string
	for _, l := range o.Labels {
		list = append(list, fmt.Sprintf("%s (%s)", l.Label, humanize.Comma(l.Documents)))
	}
	if o.More > 0 {
		list = append(list, fmt.Sprintf("and %s more", humanize.Comma(int64(o.More))))
	}
	if o.Limit != "" {
		list = append(list, fmt.Sprintf("and %s documents of labels from %q on", humanize.Comma(o.Unnamed), o.Limit))
	}
	return strings.Join(list, ", ")
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
