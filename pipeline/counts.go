package pipeline

import (
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
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
)

// FindCounts looks at the counts that a selection is to be made from, the output of a run or a table of the user's own,
// and fails with modelio.ExitUsage if they do not fit. classDocuments are what the user says of the classes of a table.
func FindCounts(ctx context.Context, name string, classDocuments map[string]int64, sel selection.Params) (c Counts, err error) {
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
		c, err = ownCounts(ctx, name, classDocuments, sel)
	case errors.Is(err, fileio.ErrIrregular):
		err = fmt.Errorf("%s: is a pipe or a device, which cannot be read several times; write the table to a file first", name)
	case len(classDocuments) > 0:
		err = fmt.Errorf("--class_documents is for tables of your own; %s knows its documents", name)
	default:
		if c, err = runCounts(ctx, name); err == nil && c.Source.Rehash && c.Analysis["hash_bits"] != "" {
			err = fmt.Errorf("%s: its features are buckets of an older hash, and cannot be used with this version of sparsenb; count the documents again", name)
		}
	}
	if err != nil {
		return c, modelio.InputError(fmt.Errorf("--counts: %w", err))
	}
	if len(c.Classes) == 0 {
		return c, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: the table has no rows, and so no classes", name)}
	}
	if exit, message := selection.JudgeClasses(c.Classes, sel.Positive, sel.Strategy); message != "" {
		return c, &modelio.Error{Exit: exit, Err: fmt.Errorf("%s: %s", name, message)}
	}
	if slices.Contains(sel.Smoothing, 0) && !slices.ContainsFunc(c.Classes, func(c modelio.Class) bool { return c.Tokens > 0 }) {
		return c, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: all counts are zero", name)}
	}
	return c, nil
}

// runCounts are the counts of a published run.
func runCounts(ctx context.Context, dir string) (c Counts, err error) {
	state, err := modelio.ReadState(ctx, dir)
	if err != nil {
		return c, err
	}
	if state.Success == nil {
		return c, fmt.Errorf("%s: no run was published here: there is no %s", dir, modelio.SuccessFile)
	}
	m, err := modelio.ReadManifest(ctx, dir)
	if err != nil {
		return c, err
	}
	for _, f := range m.Files {
		if countio.IsPart(f.Name) {
			c.Files = append(c.Files, f)
		}
	}
	if len(c.Files) == 0 && m.Counts == nil {
		return c, fmt.Errorf("%s: %s lists no files of counts; the run is not as sparsenb writes it", dir, modelio.ManifestFile)
	}
	if len(c.Files) == 0 {
		return c, fmt.Errorf("%s: the run has no counts of its own; it was made from %s", dir, m.Counts.Name)
	}
	c.Source = countio.Source{Dir: dir, Rehash: !m.SameHash()}
	c.Classes = m.Classes
	c.Analyzer = m.Analyzer
	c.Analysis = map[string]string{}
	for _, name := range []string{"analyzer", "ngrams", "hash_bits", "stop_words"} {
		if value, ok := m.Options[name]; ok {
			c.Analysis[name] = value
		}
	}
	c.From = modelio.Counts{Name: dir, SHA256: state.Success.ManifestSHA256}
	return c, nil
}

// ownCounts are a table of the user's own. It is read once here, to find what is wrong with it before any work is done.
func ownCounts(ctx context.Context, name string, classDocuments map[string]int64, sel selection.Params) (c Counts, err error) {
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
	for _, label := range table.Classes {
		class := modelio.Class{Label: label}
		class.Tokens, class.Postings = table.Sums.Of(label)
		if n, ok := classDocuments[label]; ok {
			class.Documents = &n
		}
		c.Classes = append(c.Classes, class)
	}
	slices.SortFunc(c.Classes, func(a, b modelio.Class) int { return strings.Compare(a.Label, b.Label) })
	c.Source = countio.Source{Table: name}
	c.Files = []tableio.FileSum{{Name: name}}
	c.From, err = identify(ctx, name)
	return c, err
}

// checkClassDocuments holds that the number of documents is known of all classes or of none, and of all where the
// selection needs it.
func checkClassDocuments(name string, classes []string, documents map[string]int64, sel selection.Params) error {
	for _, label := range slices.Sorted(maps.Keys(documents)) {
		if !slices.Contains(classes, label) {
			return fmt.Errorf("--class_documents: %s is no class of %s; it has %s", selection.ListLabels([]string{label}), name, selection.ListLabels(classes))
		}
	}
	for _, label := range classes {
		if _, ok := documents[label]; ok {
			continue
		}
		if len(documents) > 0 {
			return fmt.Errorf("--class_documents: %s is missing; %s has the classes %s", selection.ListLabels([]string{label}), name, selection.ListLabels(classes))
		}
		if sel.Model == solver.Bernoulli {
			return fmt.Errorf("--model=bernoulli needs the number of documents: --class_documents=%s=n,…", selection.ListLabels([]string{label}))
		}
		if sel.Method == solver.Chi2 {
			return fmt.Errorf("--method=chi2 needs the number of documents: --class_documents=%s=n,…", selection.ListLabels([]string{label}))
		}
	}
	return nil
}

// identify hashes a file.
func identify(ctx context.Context, name string) (modelio.Counts, error) {
	sum, err := tableio.Checksum(ctx, name)
	return modelio.Counts{Name: name, Size: sum.Size, SHA256: sum.SHA256}, err
}
