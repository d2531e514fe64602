package main

import (
	"flag"
	"slices"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// labelFlags define the labels of documents.
type labelFlags struct{ labelFrom *string }

func addLabelFlags(fs *flag.FlagSet) labelFlags {
	return labelFlags{
		labelFrom: fs.String("label_from", "record", "=record|folder|file where labels come from: each record has its own, or the name of the file's folder or of the file is the label"),
	}
}

func (f labelFlags) parse(r *corpusio.Reading) error {
	r.LabelFrom = corpusio.LabelFrom(*f.labelFrom)
	if r.LabelFrom == "record" {
		r.LabelFrom = corpusio.FromRecord
	}
	if !slices.Contains([]corpusio.LabelFrom{corpusio.FromRecord, corpusio.FromFolder, corpusio.FromFile}, r.LabelFrom) {
		return modelio.Usagef("--label_from=%s: must be record, folder or file", *f.labelFrom)
	}
	return nil
}
