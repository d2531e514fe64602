package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms"
)

// FindCounts looks at the counts that a selection is to be made from, the output of a run or a table of the user's own,
// and fails with ExitUsage if they do not fit. classDocuments are what the user says of the classes of a table.
func FindCounts(ctx context.Context, name string, classDocuments map[string]int64, sel Selection) (c Counts, err error) {
	if name, err = fileio.Absolute(name); err != nil {
		return c, &Error{ExitUsage, err}
	}
	store, err := fileio.For(name)
	if err != nil {
		return c, &Error{ExitUsage, err}
	}
	files, err := store.Glob(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil && len(files) == 1 && files[0].Name == name:
		c, err = ownCounts(ctx, name, classDocuments, sel)
	case len(classDocuments) > 0:
		err = fmt.Errorf("--class_documents is for tables of your own; %s knows its documents", name)
	default:
		c, err = runCounts(ctx, name)
	}
	if err != nil {
		return c, InputError(fmt.Errorf("--counts: %w", err))
	}
	if exit, message := transforms.JudgeClasses(c.Classes, sel.Positive); message != "" {
		return c, &Error{exit, fmt.Errorf("%s: %s", name, message)}
	}
	if slices.Contains(sel.Smoothing, 0) && !slices.ContainsFunc(c.Classes, func(c modelio.Class) bool { return c.Tokens > 0 }) {
		return c, &Error{ExitData, fmt.Errorf("%s: all counts are zero", name)}
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
		if strings.HasPrefix(f.Name, "counts/") {
			c.Files = append(c.Files, f)
		}
	}
	if len(c.Files) == 0 {
		return c, fmt.Errorf("%s: the run has no counts of its own; it was made from %s", dir, m.Counts.Name)
	}
	c.Source = countio.Source{Dir: dir}
	c.Classes = m.Classes
	c.From = modelio.Counts{Name: dir, SHA256: state.Success.ManifestSHA256}
	return c, nil
}

// ownCounts are a table of the user's own. It is read once here, to find what is wrong with it before any work is done.
func ownCounts(ctx context.Context, name string, classDocuments map[string]int64, sel Selection) (c Counts, err error) {
	table, err := countio.CheckOwn(ctx, name)
	if err != nil {
		return c, err
	}
	for i, label := range table.Classes {
		class := modelio.Class{Label: label, Tokens: table.Sums[i], Postings: table.Sums[i]}
		if n, ok := classDocuments[label]; ok {
			class.Documents = &n
		}
		c.Classes = append(c.Classes, class)
	}
	for label := range classDocuments {
		if !slices.Contains(table.Classes, label) {
			return c, fmt.Errorf("--class_documents: %s is no class of %s; it has %s", label, name, strings.Join(table.Classes, ", "))
		}
	}
	slices.SortFunc(c.Classes, func(a, b modelio.Class) int { return strings.Compare(a.Label, b.Label) })
	if err := checkDocuments(name, table, classDocuments, sel); err != nil {
		return c, err
	}
	c.Source = countio.Source{Own: name}
	c.Files = []countio.FileSum{{Name: name}}
	c.From, err = identify(ctx, name)
	return c, err
}

// checkDocuments holds that a Bernoulli model knows how many documents there are, and that no feature is in more.
func checkDocuments(name string, table countio.Own, classDocuments map[string]int64, sel Selection) error {
	if sel.Model != solver.Bernoulli {
		return nil
	}
	for i, label := range table.Classes {
		n, ok := classDocuments[label]
		if !ok {
			return fmt.Errorf("--model=bernoulli needs the number of documents: --class_documents=%s=n,…", label)
		}
		if table.Largest[i] > float64(n) {
			return fmt.Errorf("%s: a feature occurs in %v documents of class %s, which has %d", name, table.Largest[i], label, n)
		}
	}
	return nil
}

// identify hashes a file.
func identify(ctx context.Context, name string) (c modelio.Counts, err error) {
	store, err := fileio.For(name)
	if err != nil {
		return c, err
	}
	f, err := store.Open(ctx, name)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Info()
	if err != nil {
		return c, err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(f, 0, info.Size)); err != nil {
		return c, err
	}
	return modelio.Counts{Name: name, Size: info.Size, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}
