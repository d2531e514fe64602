package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/solver"
)

// Counts are existing counts: the parts of a published run, or a custom table.
type Counts struct {
	Source  countio.Source
	Files   []tableio.FileSum // the parts; for a custom table, one with its name only
	Classes []modelio.Class
	From    modelio.Counts // for the manifest
	Threads int            // goroutines that read in a bundle; default: one for each processor

	DocumentsKnown bool // the counts have the documents of each feature

	Analysis modelio.Analysis  // of a run
	Analyzer *modelio.Analyzer // the same in full; nil for a custom table
}

// FindCounts finds the counts under a name, the output folder of a run or a custom table, and checks that a selection can be
// made from them. classDocuments are the numbers of documents by class of a custom table. The error is a [modelio.Error].
func FindCounts(ctx context.Context, name string, classDocuments map[string]int64, sel Params) (c Counts, err error) {
	if name, err = fileio.Absolute(name); err != nil {
		return c, &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	store, err := fileio.For(name)
	if err != nil {
		return c, &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	files, err := store.Glob(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && len(files) == 1 && files[0].Name == name:
		c, err = customCounts(ctx, name, classDocuments, sel)
	case errors.Is(err, fileio.ErrIrregular):
		err = fmt.Errorf("%s: is a pipe or a device, which can be read only once; write the table to a file first", name)
	case len(classDocuments) > 0:
		err = fmt.Errorf("--class_documents is only for a custom table; %s is a run, which has the numbers of documents", name)
	default:
		if c, err = PublishedCounts(ctx, name); err == nil && c.Source.Rehash && c.Analysis.HashBits > 0 {
			err = fmt.Errorf("%s: its features are buckets of an older hash, and cannot be used with this version of sparsenb; count the documents again", name)
		}
	}
	if err != nil {
		return c, modelio.InputError(fmt.Errorf("--counts: %w", err))
	}
	if err := c.validatePruning(sel.Pruning); err != nil {
		return c, err
	}
	if err := c.validateClassifier(name, sel); err != nil {
		return c, err
	}
	if err := checkWeights(name, c, sel.Weights); err != nil {
		return c, &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	if len(c.Classes) == 0 {
		return c, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: the table has no rows", name)}
	}
	if exit, message := ValidateClasses(c.Classes, sel.Positive, sel.Strategy); message != "" {
		return c, &modelio.Error{Exit: exit, Err: fmt.Errorf("%s: %s", name, message)}
	}
	if slices.Contains(sel.Smoothing, 0) && !slices.ContainsFunc(c.Classes, func(c modelio.Class) bool { return c.Tokens > 0 }) {
		return c, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: all counts are zero", name)}
	}
	return c, nil
}

// PublishedCounts returns the counts of a published run.
func PublishedCounts(ctx context.Context, dir string) (c Counts, err error) {
	state, err := modelio.ReadState(ctx, dir)
	if err != nil {
		return c, err
	}
	if state.Success == nil {
		return c, modelio.NotPublished(dir, modelio.SuccessFile)
	}
	m, err := modelio.ReadManifest(ctx, dir)
	if err != nil {
		return c, err
	}
	if m.AppliesModel() {
		return c, fmt.Errorf("%s: a run of sparsenb %s has no counts; use those of sparsenb count or train", dir, m.Verb)
	}
	if m.Tunes() {
		return c, fmt.Errorf("%s: the counts of sparsenb tune are by fold; use those of sparsenb count or train", dir)
	}
	c.Files = m.Parts()
	if len(c.Files) == 0 && m.Counts == nil {
		return c, fmt.Errorf("%s: %s lists no files of counts; it was not written by sparsenb", dir, modelio.ManifestFile)
	}
	if len(c.Files) == 0 {
		return c, fmt.Errorf("%s: the run has no counts; use those that it was made from: %s", dir, m.Counts.Name)
	}
	c.Source, c.DocumentsKnown = countio.Source{Dir: dir, Rehash: !m.SameHash()}, true
	c.Classes = m.Classes
	c.Analysis, c.Analyzer = m.Analysis(), m.Analyzer
	if c.Analysis.Weights.Name == modelio.BinaryWeights && m.Analyzer != nil { // of the selection; the counts have occurrences or values
		analyzer := *m.Analyzer
		if unit := c.Analysis.Weights.Unit; unit != "" {
			analyzer.Weights = &modelio.Weights{Name: "count", Unit: unit}
			c.Analysis.Weights = *analyzer.Weights
		} else {
			c.Analysis.Weights, analyzer.Weights = modelio.Weights{}, nil
		}
		c.Analyzer = &analyzer
	}
	c.From = modelio.Counts{Name: dir, SHA256: state.Success.ManifestSHA256}
	return c, nil
}

// checkWeights checks that the counts have the weights that the selection asks for.
func checkWeights(name string, c Counts, weights string) error {
	has := cmp.Or(c.Analysis.Weights.Name, "count")
	switch {
	case weights == "" || weights == has:
		return nil
	case weights == modelio.BinaryWeights && has == "count":
		if !c.DocumentsKnown {
			return fmt.Errorf("--weights=binary needs the numbers of documents; %s has no column documents", name)
		}
		return nil
	case weights == modelio.BinaryWeights:
		return fmt.Errorf("--weights=binary: %s was counted with --weights=%s; count again without it", name, has)
	}
	return fmt.Errorf("--weights=%s: %s was counted with --weights=%s; count the documents again with --weights=%s", weights, name, has, weights)
}

// customCounts returns a custom table. It reads the table once, to report errors before a job is started.
func customCounts(ctx context.Context, name string, classDocuments map[string]int64, sel Params) (c Counts, err error) {
	bernoulli := sel.Model == solver.Bernoulli
	table, err := countio.ValidateTable(ctx, name, countio.Constraints{
		Documents: classDocuments, CountsAreDocuments: bernoulli && len(classDocuments) > 0,
	})
	if err != nil {
		return c, err
	}
	if err := checkClassDocuments(name, table.Classes, classDocuments, sel); err != nil {
		return c, err
	}
	if ofFeature, _ := sel.Pruning.NeedsDocuments(); ofFeature && !bernoulli && !table.DocumentsKnown {
		return c, errors.New("--min_df and --max_df need the number of documents with each feature: the columns feature, class, count and documents")
	}
	for _, label := range table.Classes {
		class := modelio.Class{Label: label}
		class.Tokens, class.Postings = table.Sums.Of(label)
		if n, ok := classDocuments[label]; ok {
			class.Documents = &n
		}
		c.Classes = append(c.Classes, class)
	}
	slices.SortFunc(c.Classes, func(a, b modelio.Class) int { return strings.Compare(a.Label, b.Label) })
	c.Source, c.DocumentsKnown = countio.Source{Table: name}, table.DocumentsKnown
	c.Files = []tableio.FileSum{{Name: name}}
	sum, err := tableio.Checksum(ctx, name)
	c.From = modelio.Counts{Name: name, Size: sum.Size, SHA256: sum.SHA256}
	return c, err
}

// validatePruning checks that the rules can be applied to the counts.
func (c Counts) validatePruning(p Pruning) error {
	if p.Vocabulary.given() && c.Source.Rehash {
		return modelio.Usagef("--vocabulary: cannot be used with %s, whose features are sorted by an older hash; count the documents again", c.Source.Dir)
	}
	if err := p.ValidateFor(c.Analysis.HashBits); err != nil {
		return err
	}
	_, err := p.Plan(c.Classes)
	return err
}

// validateClassifier checks that the classifier can be computed from the counts.
func (c Counts) validateClassifier(name string, sel Params) error {
	classifier := sel.classifier()
	documents := !slices.ContainsFunc(c.Classes, func(c modelio.Class) bool { return c.Documents == nil })
	switch {
	case Fitted(classifier):
		return modelio.Usagef("--classifier=%s: is fitted to the documents, which counts do not contain; use sparsenb train, or a naive Bayes classifier: mnb, cnb or bnb", classifier)
	case sel.NeedsDocuments() && !documents:
		return modelio.Usagef("--classifier=bnb needs the number of documents of each class; name them with --class_documents=LABEL=n,…")
	case sel.NeedsDocuments() && !c.DocumentsKnown:
		return modelio.Usagef("--classifier=bnb needs the numbers of documents; %s has no column documents", name)
	case sel.NeedsOccurrences() && !c.DocumentsKnown:
		return modelio.Usagef("--classifier=%s needs the occurrences of the features; with --model=bernoulli, the counts of %s are documents, because it has no column documents", classifier, name)
	}
	return nil
}

// checkClassDocuments checks that the numbers of documents are given for all classes or for none, and for all if the selection
// needs them.
func checkClassDocuments(name string, classes []string, documents map[string]int64, sel Params) error {
	for _, label := range slices.Sorted(maps.Keys(documents)) {
		if !slices.Contains(classes, label) {
			return fmt.Errorf("--class_documents: unknown class %s; %s has the classes %s", ListLabels([]string{label}), name, ListLabels(classes))
		}
	}
	for _, label := range classes {
		if _, ok := documents[label]; ok {
			continue
		}
		if len(documents) > 0 {
			return fmt.Errorf("--class_documents: %s is missing; %s has the classes %s", ListLabels([]string{label}), name, ListLabels(classes))
		}
		if sel.Model == solver.Bernoulli {
			return fmt.Errorf("--model=bernoulli needs the number of documents: --class_documents=%s=n,…", ListLabels([]string{label}))
		}
		if sel.Method == solver.Chi2 {
			return fmt.Errorf("--method=chi2 needs the number of documents: --class_documents=%s=n,…", ListLabels([]string{label}))
		}
	}
	return nil
}
