package corpusio

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Reading says how files become documents. It is one value from the flags to the readers, and travels with a job. Of the zero
// value every file is read in the format that is detected, with the label from the file.
type Reading struct {
	Format         string   // the name of a Format; default: detected for each file
	Header         Header   // whether files begin with a line of column names
	LabelColumn    string   // the name of a column, or its number from 1; default: by its name
	TextColumns    []string // names or numbers; their texts are joined by a space; default: by its name
	WeightColumn   string   // default: every document counts once
	FeatureNames   string   // of svmlight: a file with the name of each index, a line each
	NamesVersion   string   // of FeatureNames, as its store has it; default: any
	MaxRecordBytes int      // required; longer records are rejected without being kept in memory

	LabelOptional bool   // documents may have no label: Document.Label is then empty. Classes keeps those documents
	WholeFiles    bool   // with LabelOptional: plain text is a document a file. Default: a document a line
	IDColumn      string // as LabelColumn; its value is Document.ID. Default: none
	GroupColumn   string // as LabelColumn; its value is Document.Group. Default: none

	LabelFrom LabelFrom         // of files that were listed without a label; default: FromRecord
	LabelMap  map[string]string // new names of labels; labels that get the same name are merged
	Classes   []string          // the labels to keep, after LabelMap; default: all

	MaxExpansion int  // how many bytes a compressed byte may become; default: DefaultMaxExpansion
	SkipCorrupt  bool // of a corrupt file the documents before the damage count
}

// Skips reports whether the documents before the damage count, if the file is corrupt. That needs one reader, as compressed
// files have: the ranges of a plain file are read independently of each other.
func (r Reading) Skips(f File) bool { return r.SkipCorrupt && f.Compression != Plain }

// guessesLabel reports whether a column with a usual name is the label if there is one, and none otherwise.
func (r Reading) guessesLabel(f File) bool {
	return r.LabelOptional && r.LabelColumn == "" && f.Label == ""
}

// namesColumn reports whether a flag names a column, so that a file must have columns.
func (r Reading) namesColumn() bool {
	return r.LabelColumn != "" || len(r.TextColumns) > 0 || r.WeightColumn != "" || r.IDColumn != "" || r.GroupColumn != ""
}

// valueFlag returns the flag that names a column of values, or "".
func (r Reading) valueFlag() string {
	switch {
	case r.IDColumn != "":
		return "id_column"
	case r.GroupColumn != "":
		return "group_column"
	}
	return ""
}

// LabelFrom is where labels come from.
type LabelFrom string

// The values of LabelFrom.
const (
	FromRecord LabelFrom = ""       // each document has its own
	FromFolder LabelFrom = "folder" // the name of the folder that the file is in
	FromFile   LabelFrom = "file"   // the name of the file, without its extensions
)

// DefaultMaxExpansion is the default of Reading.MaxExpansion.
const DefaultMaxExpansion = 2000

// Options returns the options that say so, which are named as the flags. Defaults are left out, except of
// MaxRecordBytes.
func (r Reading) Options() map[string]string {
	options := map[string]string{"max_record_bytes": strconv.Itoa(r.MaxRecordBytes)}
	set := func(name, value string) {
		if value != "" {
			options[name] = value
		}
	}
	set("format", r.Format)
	if r.Header != Unknown {
		set("header", strconv.FormatBool(r.Header == Present))
	}
	set("label_column", r.LabelColumn)
	set("text_column", strings.Join(r.TextColumns, ","))
	set("weight_column", r.WeightColumn)
	set("id_column", r.IDColumn)
	set("group_column", r.GroupColumn)
	if set("feature_names", r.FeatureNames); r.NamesVersion != "" {
		options["feature_names"] += ", version " + r.NamesVersion
	}
	set("label_from", string(r.LabelFrom))
	if n := len(r.LabelMap); n > 0 {
		var pairs []string
		for _, label := range slices.Sorted(maps.Keys(r.LabelMap)) {
			pairs = append(pairs, label+"\t"+r.LabelMap[label])
		}
		set("label_map", fmt.Sprintf("%d labels, sha256 %x", n, sha256.Sum256([]byte(strings.Join(pairs, "\n")))))
	}
	set("classes", strings.Join(r.Classes, ","))
	if r.MaxExpansion != 0 && r.MaxExpansion != DefaultMaxExpansion {
		set("max_expansion_ratio", strconv.Itoa(r.MaxExpansion))
	}
	if r.SkipCorrupt {
		set("on_corrupt_file", "skip")
	}
	return options
}
