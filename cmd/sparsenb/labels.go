package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
)

// labelFlags define the labels of documents.
type labelFlags struct {
	labelFrom, labelMap *string
	class, classes      list
}

func addLabelFlags(fs *flag.FlagSet) *labelFlags {
	f := &labelFlags{
		labelFrom: fs.String("label_from", "record", "=record|folder|file where labels come from: each record has its own, or the name of the file's folder or of the file is the label"),
		labelMap:  fs.String("label_map", "", "=FILE new names of labels, one per line, old<TAB>new or old,new; labels that get the same name are merged"),
	}
	fs.Var(&f.class, "class", "=LABEL=GLOB files whose documents all have this label, instead of or beside --input; may be repeated")
	fs.Var(&f.classes, "classes", "=LABEL,… labels to keep, after --label_map; documents of other classes are counted, but not used (default: all)")
	return f
}

func (f *labelFlags) parse(ctx context.Context, r *corpusio.Reading) (err error) {
	r.LabelFrom = corpusio.LabelFrom(*f.labelFrom)
	if r.LabelFrom == "record" {
		r.LabelFrom = corpusio.FromRecord
	}
	if !slices.Contains([]corpusio.LabelFrom{corpusio.FromRecord, corpusio.FromFolder, corpusio.FromFile}, r.LabelFrom) {
		return modelio.Usagef("--label_from=%s: must be record, folder or file", *f.labelFrom)
	}
	for _, name := range f.classes.commas() {
		label, err := corpusio.CleanLabel(name)
		if err != nil {
			return modelio.Usagef("--classes=%s: %w", f.classes.String(), err)
		}
		r.Classes = append(r.Classes, label)
	}
	slices.Sort(r.Classes)
	r.Classes = slices.Compact(r.Classes)
	r.LabelMap, err = readLabelMap(ctx, *f.labelMap)
	return err
}

// maxLabelMap is the maximum size of the file in bytes: the names travel with the job.
const maxLabelMap = 1 << 20

func readLabelMap(ctx context.Context, name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	content, err := fileio.ReadAll(ctx, name, maxLabelMap)
	if err != nil {
		return nil, modelio.InputError(fmt.Errorf("--label_map: %w", err))
	}
	m, err := corpusio.ParseLabelMap(content)
	if err != nil {
		return nil, modelio.Usagef("--label_map: %s: %w", name, err)
	}
	return m, nil
}

// patterns returns the files of --input and --class. A label ends at the first equals sign: file names have some, such as
// year=2024/a.txt.
func (f *labelFlags) patterns(input []string) (patterns []corpusio.Pattern, err error) {
	for _, glob := range input {
		patterns = append(patterns, corpusio.Pattern{Glob: glob})
	}
	for _, value := range f.class {
		name, glob, ok := strings.Cut(value, "=")
		if !ok || glob == "" {
			return nil, modelio.Usagef("--class=%s: must be LABEL=GLOB, such as spam=mail/spam/*.txt", value)
		}
		label, err := corpusio.CleanLabel(name)
		if err != nil {
			return nil, modelio.Usagef("--class=%s: %w", value, err)
		}
		patterns = append(patterns, corpusio.Pattern{Glob: glob, Label: label})
	}
	return patterns, nil
}
