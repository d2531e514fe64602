package tuning

import (
	"context"
	"fmt"
	"runtime"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/selection/histogram"
	"github.com/sparsenb/sparsenb/solver"
)

// vocabulary is the features that some settings select from, and which of their counts. Its histogram is solved for all of
// these settings.
type vocabulary struct {
	kind    int
	pruning selection.Pruning
}

// vocabularies lists the distinct ones of a grid, and the number of that of each setting.
func (g Grid) vocabularies() (list []vocabulary, of []int) {
	numbers := map[string]int{}
	for _, s := range g.Settings {
		v := vocabulary{occurrences, s.Pruning}
		if s.CountsDocuments() {
			v.kind = inDocuments
		}
		key := fmt.Sprint(v.kind, s.Pruning.MinDF.Text, s.Pruning.MaxDF.Text, s.Pruning.MinCount)
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(list)
			list = append(list, v)
		}
		of = append(of, numbers[key])
	}
	return list, of
}

// fold is the work for one fold: the models of the documents of all other folds.
type fold struct {
	number  int32
	rest    []modelio.Class
	labels  []string
	pruners []*selection.Pruner // by vocabulary
	kinds   []int               // by vocabulary
	of      []int               // vocabularies of the settings

	histograms []*histogram.Histogram // by vocabulary
	builders   []*builder             // by setting

	classes []int32
	counts  []float64
}

// Solve returns the models of the grid for each fold, and warnings about the folds. It reads the counts twice, and needs memory
// for the distinct counts of the folds and for the features of all models, but not for all features. The error may be a
// modelio.Error.
func Solve(ctx context.Context, g Grid, folds Folds, counts Counts) (*Plan, []string, error) {
	d, err := divide(counts.Classes, folds.Number)
	if err != nil {
		return nil, nil, err
	}
	warnings, err := d.validate()
	if err != nil {
		return nil, nil, err
	}
	if n := g.Size() * folds.Number * len(d.classes); n > maxFigures {
		return nil, nil, tooLarge(fmt.Sprintf("%d points, %d folds and %d classes", g.Size(), folds.Number, len(d.classes)))
	}
	vocabularies, of := g.vocabularies()
	all := make([]*fold, folds.Number)
	for i := range all {
		f := &fold{number: int32(i), rest: d.rest(i), labels: selection.Labels(d.classes), of: of}
		for _, v := range vocabularies {
			plan, err := v.pruning.Plan(f.rest)
			if err != nil {
				return nil, nil, err
			}
			pruner, err := selection.NewPruner(ctx, v.pruning, plan)
			if err != nil {
				return nil, nil, err
			}
			f.pruners, f.kinds = append(f.pruners, pruner), append(f.kinds, v.kind)
			f.histograms = append(f.histograms, histogram.New())
		}
		all[i] = f
	}
	err = counts.eachBatch(ctx, d, false, func(batch []countedFeature) error {
		return parallel(all, func(f *fold) error { return f.count(batch) })
	})
	if err != nil {
		return nil, nil, err
	}
	if err := parallel(all, func(f *fold) error { return f.solve(ctx, g) }); err != nil {
		return nil, nil, err
	}
	p := newPlan(g, folds, d)
	err = counts.eachBatch(ctx, d, true, func(batch []countedFeature) error {
		used := make([][]bool, len(all))
		err := parallel(all, func(f *fold) (err error) {
			used[f.number], err = f.pick(batch)
			return err
		})
		p.name(batch, used)
		if n := size(all); err == nil && n > maxBytes {
			return tooLarge(humanize.IBytes(uint64(n)) + " of features in the models of all folds")
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	p.complete(all)
	return p, warnings, nil
}

// The limits of what the models of a grid take in memory: bytes of tables while they are made, and figures of the tally.
const (
	maxBytes   = 4 << 30
	maxFigures = 1 << 26
)

func tooLarge(what string) error {
	return &modelio.Error{Exit: modelio.ExitUsage, Err: fmt.Errorf("the grid is too large: %s; choose fewer or smaller values of --k, fewer other values, or fewer --folds", what)}
}

// size is about how many bytes the tables of the folds take so far.
func size(folds []*fold) (n int64) {
	for _, f := range folds {
		for _, b := range f.builders {
			for _, p := range b.problems {
				n += int64(8*len(p.indexes) + 8*len(p.table.Terms) + 4*len(p.table.Sets))
			}
		}
	}
	return n
}

// parallel calls do for each fold, on all processors.
func parallel(folds []*fold, do func(*fold) error) error {
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range folds {
		workers.Go(func() error { return do(f) })
	}
	return workers.Wait()
}

// keeps reports whether a feature is in a vocabulary.
func (f *fold) keeps(feat *countedFeature, v int) (bool, error) {
	if f.pruners[v] == nil {
		return true, nil
	}
	keep, _, err := f.pruners[v].Keep(feat.id, 0, nil, feat.sumWithout(f.number, occurrences), feat.sumWithout(f.number, inDocuments))
	return keep, err
}

// count adds features to the histograms.
func (f *fold) count(batch []countedFeature) error {
	for i := range batch {
		for v, h := range f.histograms {
			f.classes, f.counts = batch[i].without(f.number, f.kinds[v], f.classes, f.counts)
			if len(f.counts) == 0 { // it occurs in this fold only
				continue
			}
			keep, err := f.keeps(&batch[i], v)
			if err != nil {
				return err
			}
			if keep {
				h.Add(f.classes, f.counts)
			}
		}
	}
	return nil
}

// solve solves the models of all settings.
func (f *fold) solve(ctx context.Context, g Grid) error {
	vectors := make([]*solver.Vectors, len(f.histograms))
	for v, h := range f.histograms {
		var err error
		if vectors[v], err = vectorsOf(h, len(f.rest)); err != nil {
			return err
		}
		f.histograms[v] = nil
	}
	for i, s := range g.Settings {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		v := vectors[f.of[i]]
		if v.Len() == 0 {
			return dataError("no features are left of the documents outside of fold %d%s", f.number, prunedBy(s))
		}
		choices, err := s.Supports(v, f.rest)
		if err != nil {
			return fmt.Errorf("fold %d: %w", f.number, err)
		}
		f.builders = append(f.builders, newBuilder(s, choices, f.labels))
	}
	return nil
}

func prunedBy(s selection.Params) string {
	if s.Pruning.MinDF.Text == "" {
		return ""
	}
	return " with --min_df=" + s.Pruning.MinDF.Text
}

func vectorsOf(h *histogram.Histogram, classes int) (*solver.Vectors, error) {
	const pieceBytes = 1 << 20
	var pieces [][]byte
	h.Pack(pieceBytes, func(b []byte) { pieces = append(pieces, b) })
	return selection.CollectVectors(func(b *[]byte) bool {
		if len(pieces) == 0 {
			return false
		}
		*b, pieces = pieces[0], pieces[1:]
		return true
	}, classes)
}

// pick adds features to the models that select them, and reports which features of the batch are selected.
func (f *fold) pick(batch []countedFeature) (used []bool, err error) {
	used = make([]bool, len(batch))
	for i := range batch {
		feat := &batch[i]
		last := -1
		for s, b := range f.builders {
			v := f.of[s]
			if v != last {
				f.classes, f.counts = feat.without(f.number, f.kinds[v], f.classes, f.counts)
				last = v
			}
			if len(f.counts) == 0 {
				continue
			}
			keep, err := f.keeps(feat, v)
			if err != nil {
				return nil, err
			}
			if !keep {
				continue
			}
			selected, err := b.add(feat, f.classes, f.counts)
			if err != nil {
				return nil, err
			}
			used[i] = used[i] || selected
		}
	}
	return used, nil
}
