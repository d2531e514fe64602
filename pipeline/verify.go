package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/countio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/io/tableio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/transforms"
)

// Verify computes again, from the counts of a run, what its other files say: sums, scores, parameters, gains, bounds,
// the order of the features, and the names of buckets. That a model is optimal it does not prove again; the gap is. It returns what it has found to
// be true, a sentence each. It fails with modelio.ExitData on the first thing that is not. It needs the memory of the distinct counts.
func Verify(ctx context.Context, dir string) (checks []string, err error) {
	v, err := VerifyFiles(ctx, dir)
	if err != nil {
		return nil, err
	}
	return v.Compute(ctx)
}

// Verification is a run while it is verified.
type Verification struct {
	Run modelio.Published // read from files whose checksums are right

	ctx      context.Context
	dir      string
	features map[modelio.Key][]modelio.FeatureRow // of the run
	vectors  *solver.Vectors                      // the counts, read again
	groups   func(m modelio.ModelRow) []solver.Group
	last     modelio.ModelRow // whose groups were made last
	grouped  []solver.Group
	counts   map[string]labelled // of the selected features, and of what has names
	checks   []string
}

// VerifyFiles begins to verify a run: it compares all its files with their checksums before it reads any of them.
func VerifyFiles(ctx context.Context, dir string) (*Verification, error) {
	v := &Verification{ctx: ctx, dir: dir}
	return v, v.failed(v.checksums())
}

// Compute goes on with what Verify does, and returns all that was found to be true.
func (v *Verification) Compute(ctx context.Context) (checks []string, err error) {
	v.ctx = ctx
	for _, step := range []func() error{v.conservation, v.models, v.path, v.buckets} {
		if err := step(); err != nil {
			return v.checks, v.failed(err)
		}
	}
	return v.checks, nil
}

// failed gives an error its exit code.
func (v *Verification) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fileio.ErrUnavailable):
		return &modelio.Error{Exit: modelio.ExitFailed, Err: err}
	}
	return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s: %w", v.dir, err)}
}

// labelled are the counts of a feature in the classes in which it has any.
type labelled struct {
	found  bool
	id     int64
	labels []string
	counts []float64

	documents []float64 // nil where they are not known, or are the counts

	occurrences float64 // in all classes, whatever the model counts
}

func (v *Verification) found(format string, args ...any) {
	v.checks = append(v.checks, fmt.Sprintf(format, args...))
}

// checksums compares every file with the manifest, and the manifest with _SUCCESS.
func (v *Verification) checksums() error {
	state, err := modelio.ReadState(v.ctx, v.dir)
	if err != nil {
		return err
	}
	if state.Success == nil {
		return fmt.Errorf("there is no %s: the run is not complete", modelio.SuccessFile)
	}
	content, err := fileio.ReadAll(v.ctx, fileio.Join(v.dir, modelio.ManifestFile), modelio.MaxManifest)
	if err != nil {
		return err
	}
	if hash := sha256.Sum256(content); hex.EncodeToString(hash[:]) != state.Success.ManifestSHA256 {
		return fmt.Errorf("%s is not the one that was published", modelio.ManifestFile)
	}
	manifest, err := modelio.ReadManifest(v.ctx, v.dir)
	if err != nil {
		return err
	}
	if state.Success.Run != manifest.ID || state.Success.Fingerprint != manifest.Fingerprint {
		return fmt.Errorf("%s names the run %s with the fingerprint %s, and %s the run %s with %s", modelio.SuccessFile,
			state.Success.Run, state.Success.Fingerprint, modelio.ManifestFile, manifest.ID, manifest.Fingerprint)
	}
	if manifest.Verb != "count" {
		for _, name := range []string{modelio.FeaturesFile, modelio.ModelFile, modelio.PathFile} {
			if !slices.ContainsFunc(manifest.Files, func(f tableio.FileSum) bool { return f.Name == name }) {
				return fmt.Errorf("%s does not list %s", modelio.ManifestFile, name)
			}
		}
	}
	var size int64
	for _, f := range manifest.Files {
		c, err := identify(v.ctx, fileio.Join(v.dir, f.Name))
		if err != nil {
			return err
		}
		if c.SHA256 != f.SHA256 || c.Size != f.Size {
			return fmt.Errorf("%s is not the file that was published", f.Name)
		}
		size += f.Size
	}
	if err := v.strangers(manifest.Files); err != nil {
		return err
	}
	v.found("the checksums of %d files, %s", len(manifest.Files), humanize.Bytes(uint64(size)))
	v.Run, err = modelio.Read(v.ctx, v.dir)
	return err
}

// strangers holds that the folder of counts has no files but those of the run: readers take all that is in it for counts,
// unless its name begins with a dot or an underscore.
func (v *Verification) strangers(files []tableio.FileSum) error {
	store, err := fileio.For(v.dir)
	if err != nil {
		return err
	}
	infos, err := store.List(v.ctx, fileio.Join(v.dir, countio.PartFolder))
	if err != nil {
		return err
	}
	for _, info := range infos {
		name := fileio.Join(countio.PartFolder, path.Base(info.Name))
		published := slices.ContainsFunc(files, func(f tableio.FileSum) bool { return f.Name == name })
		if !published && !strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(path.Base(name), "_") {
			return fmt.Errorf("%s is not of this run, and what reads the folder counts it too; remove it", name)
		}
	}
	return nil
}

// conservation reads the counts and compares their sums with the totals that were taken while the documents were read.
func (v *Verification) conservation() error {
	source, files, err := v.source()
	if err != nil {
		return err
	}
	v.counts = map[string]labelled{}
	for _, f := range v.Run.Features {
		v.counts[f.Feature] = labelled{}
	}
	for _, b := range v.Run.Buckets {
		v.counts[b.Feature] = labelled{}
	}
	sums, features, err := v.read(source, files)
	if err != nil {
		return err
	}
	var tokens float64
	for _, c := range v.Run.Manifest.Classes {
		if gotTokens, postings := sums.Of(c.Label); gotTokens != c.Tokens || postings != c.Postings {
			return fmt.Errorf("the counts of %s have %v tokens and %v postings, the manifest %v and %v", c.Label, gotTokens, postings, c.Tokens, c.Postings)
		}
		tokens += c.Tokens
	}
	if features != v.Run.Manifest.Features {
		return fmt.Errorf("the counts have %d features, the manifest %d", features, v.Run.Manifest.Features)
	}
	v.found("%s tokens of %s features, as many as were counted", humanize.Commaf(tokens), humanize.Comma(features))
	return nil
}

// source is where the counts are that the run was made from.
func (v *Verification) source() (countio.Source, []tableio.FileSum, error) {
	from := v.Run.Manifest.Counts
	switch {
	case from == nil:
		var parts []tableio.FileSum
		for _, f := range v.Run.Manifest.Files {
			if countio.IsPart(f.Name) {
				parts = append(parts, f)
			}
		}
		return countio.Source{Dir: v.dir}, parts, nil
	case from.Size > 0:
		now, err := identify(v.ctx, from.Name)
		if err == nil && now != *from {
			err = fmt.Errorf("%s is not the table that the run was made from", from.Name)
		}
		return countio.Source{Table: from.Name}, []tableio.FileSum{{Name: from.Name}}, err
	}
	counts, err := runCounts(v.ctx, from.Name)
	if err == nil && counts.From != *from {
		err = fmt.Errorf("%s is not the run that the counts were taken from", from.Name)
	}
	return counts.Source, counts.Files, err
}

// read reads the counts once, for their sums, their groups, and those of the selected features.
func (v *Verification) read(source countio.Source, files []tableio.FileSum) (sums *countio.ClassSums, features int64, err error) {
	classes := countio.ClassesOf(selection.Labels(v.Run.Manifest.Classes))
	sums = countio.NewClassSums(classes)
	hist := histogram.New()
	model := solver.Multinomial
	if len(v.Run.Models) > 0 {
		if model, err = solver.ParseModel(v.Run.Models[0].Model); err != nil {
			return nil, 0, err
		}
	}
	var lastID int64
	var lastName []byte
	var counts []float64
	for _, file := range files {
		err := source.Each(v.ctx, file.Name, classes, func(f *countio.Feature) error {
			name, err := f.Name()
			if err != nil {
				return err
			}
			// The parts of a run are one sorted list, in which nothing stands twice.
			if source.Table == "" && features > 0 && cmp.Or(cmp.Compare(f.ID, lastID), bytes.Compare(name, lastName)) <= 0 {
				return fmt.Errorf("%s: the feature %q is not in its place", file.Name, name)
			}
			lastID, lastName = f.ID, append(lastName[:0], name...)
			features++
			sums.Add(f)
			counts = f.Counts(counts[:0], model)
			hist.AddPresent(f.Classes, counts)
			if _, ok := v.counts[string(name)]; ok {
				l := labelled{found: true, id: source.IDOf(f, name), counts: slices.Clone(counts)}
				for _, class := range f.Classes {
					l.labels = append(l.labels, classes.Labels[class])
				}
				for _, n := range f.Occurrences {
					l.occurrences += n
				}
				if f.DocumentsKnown {
					l.documents = slices.Clone(f.Documents)
				}
				v.counts[string(name)] = l
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if n := len(v.Run.Manifest.Classes); n < len(classes.Labels) {
		return nil, 0, fmt.Errorf("the counts have the class %s, the manifest has not", selection.ListLabels(classes.Labels[n:]))
	}
	return sums, features, v.group(hist)
}

func (v *Verification) group(hist *histogram.Histogram) (err error) {
	var pieces [][]byte
	hist.Pack(transforms.MaxElement, func(b []byte) { pieces = append(pieces, b) })
	next := func(b *[]byte) bool {
		if len(pieces) == 0 {
			return false
		}
		*b, pieces = pieces[0], pieces[1:]
		return true
	}
	v.vectors, err = selection.CollectVectors(next, len(v.Run.Manifest.Classes))
	if err == nil {
		v.groups = selection.Groups(v.vectors, v.Run.Manifest.Classes)
	}
	return err
}

func (v *Verification) problem(m modelio.ModelRow) (p solver.Problem, err error) {
	if v.grouped == nil || v.last.Problem != m.Problem {
		v.last, v.grouped = m, v.groups(m)
	}
	p = solver.Problem{Groups: v.grouped, K: m.K, Smoothing: m.Smoothing, Method: solver.Method(m.Method)}
	if m.DocsPositive != nil && m.DocsNegative != nil {
		p.DocumentsPositive, p.DocumentsNegative = float64(*m.DocsPositive), float64(*m.DocsNegative)
	}
	p.Model, err = solver.ParseModel(m.Model)
	return p, err
}
