package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver/linear"
)

// MaxFitBytes limits the memory of the documents that a classifier is fitted to: bytesPerRow for a document, and bytesPerEntry
// for each selected feature in it. In all, a run takes up to five times as much.
var MaxFitBytes int64 = 1 << 30

const (
	bytesPerRow   = 24
	bytesPerEntry = 12
)

// Columns are the features that any model selects.
type Columns struct {
	documents map[string]float64 // of each feature, in the classes of a model
}

// Add adds the features of a model.
func (c *Columns) Add(s Selected) {
	if c.documents == nil {
		c.documents = map[string]float64{}
	}
	for _, f := range s.Features {
		var n float64
		for _, side := range f.Documents {
			n += side
		}
		c.documents[f.Name] = max(c.documents[f.Name], n)
	}
}

// Names returns the features, sorted.
func (c *Columns) Names() []string { return slices.Sorted(maps.Keys(c.documents)) }

// FitBytes returns the memory that the entries of these columns take. It is too low if each model is of other classes, and
// too high if documents have weights.
func (c *Columns) FitBytes() int64 {
	var entries float64
	for _, n := range c.documents {
		entries += n
	}
	return int64(min(entries, math.MaxInt64/(2*bytesPerEntry))) * bytesPerEntry
}

// Rows are some documents of a run as sparse rows, with a label and a weight each. Columns are those of [Columns.Names].
type Rows struct {
	Labels  []string
	Label   []int32 // of each row, in Labels
	Weight  []float64
	Entries []int32 // of each row, in Columns and Values
	Columns []int32
	Values  []float64
}

// Documents are all documents of a run.
type Documents struct {
	names  []string // of the columns
	labels map[string]int32
	rows   *linear.Rows
}

// NewDocuments returns no documents.
func NewDocuments(names []string) *Documents {
	return &Documents{names: names, labels: map[string]int32{}, rows: linear.NewRows(len(names), 0)}
}

// TooManyError is the error if documents would take more than MaxFitBytes.
type TooManyError struct{}

// Error has no command in it.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("the documents take more than %s of memory as rows of the selected features (%d bytes for a document and %d for each selected feature in it)",
		humanize.IBytes(uint64(MaxFitBytes)), bytesPerRow, bytesPerEntry)
}

// Add adds documents, or returns a [*TooManyError].
func (d *Documents) Add(r Rows) error {
	at := int32(0)
	for i, label := range r.Label {
		name := r.Labels[label]
		class, ok := d.labels[name]
		if !ok {
			class = int32(len(d.labels))
			d.labels[name] = class
		}
		n := r.Entries[i]
		d.rows.Add(class, r.Weight[i], r.Columns[at:at+n], r.Values[at:at+n])
		at += n
	}
	if bytes := int64(d.rows.Len())*bytesPerRow + int64(d.rows.Entries())*bytesPerEntry; bytes > MaxFitBytes {
		return &TooManyError{}
	}
	return nil
}

// FittedModel has the parameters of a model that were fitted to the documents, or some of them.
type FittedModel struct {
	Key        modelio.Key
	Intercepts []float64 // of each row of the model
	From       int       // number of the first row of features
	Weights    []float64 // of rows of features
}

// maxWeights is the number of weights in a FittedModel that crosses a shuffle.
const maxWeights = 1 << 16

// Fit fits the classifier of every model to the documents. The tables must be ranked. An error of the data is a
// [*modelio.Error].
func (t *Tables) Fit(ctx context.Context, d *Documents, c float64) ([]FittedModel, error) {
	var models []rankedModel
	for rows, features := t.models, t.features; len(rows) > 0; {
		m := rankedModel{models: rows[:1]}
		for len(rows) > len(m.models) && rows[len(m.models)].Key() == rows[0].Key() {
			m.models = rows[:len(m.models)+1]
		}
		n := len(m.models) * int(rows[0].K)
		m.features = features[:n]
		models, rows, features = append(models, m), rows[len(m.models):], features[n:]
	}
	fitted, errs := make([][]FittedModel, len(models)), make([]error, len(models))
	var workers errgroup.Group
	// Large documents are projected for one model at a time.
	workers.SetLimit(int(max(1, min(int64(runtime.GOMAXPROCS(0)), MaxFitBytes/max(1, 2*int64(d.rows.Entries())*bytesPerEntry)))))
	for i, m := range models {
		workers.Go(func() error {
			fitted[i], errs[i] = m.fit(ctx, d, c)
			return nil
		})
	}
	_ = workers.Wait() // errs has the errors: the first by model does not depend on the time
	return slices.Concat(fitted...), cmp.Or(errs...)
}

// rankedModel is a model with its features by rank; a joint model has a row for each class.
type rankedModel struct {
	models   []modelio.ModelRow
	features []modelio.FeatureRow
}

func (m rankedModel) fit(ctx context.Context, d *Documents, c float64) ([]FittedModel, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	rows, columns, err := m.rows(d)
	if err != nil {
		return nil, err
	}
	first := m.models[0]
	fit := linear.Logistic
	if first.Classifier == modelio.SVM {
		fit = linear.SVM
	}
	model, err := fit(ctx, rows, c)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		advice := ""
		switch {
		case errors.Is(err, linear.ErrNotConverged):
			advice = "; use a smaller --c, or values of about 1: --weights=tfidf or a scaled matrix"
		case errors.Is(err, linear.ErrClasses):
			advice = "; leave the class out with --classes, or use a naive Bayes classifier"
		}
		return nil, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("--classifier=%s: %s, smoothing %v, k = %d: %w%s", first.Classifier, first.Problem, first.Smoothing, first.K, err, advice)}
	}
	var weights []float64
	for _, column := range columns {
		for _, row := range model.Weights {
			weights = append(weights, row[column])
		}
	}
	var pieces []FittedModel
	for from := 0; from < len(weights); from += maxWeights {
		pieces = append(pieces, FittedModel{first.Key(), model.Intercepts, from, weights[from:min(len(weights), from+maxWeights)]})
	}
	return pieces, nil
}

// rows returns the documents of the model's classes, with its features as columns, and the column of each feature by rank.
func (m rankedModel) rows(d *Documents) (rows *linear.Rows, columns []int32, err error) {
	var names []string
	for i := 0; i < len(m.features); i += len(m.models) {
		names = append(names, m.features[i].Feature)
	}
	sorted := slices.Sorted(slices.Values(names))
	for _, name := range names {
		at, _ := slices.BinarySearch(sorted, name)
		columns = append(columns, int32(at))
	}
	column := make([]int32, len(d.names))
	for i, name := range d.names {
		at, ok := slices.BinarySearch(sorted, name)
		if column[i] = int32(at); !ok {
			column[i] = -1
		}
	}
	classes := max(2, len(m.models))
	class := make([]int32, len(d.labels))
	for label, i := range d.labels {
		class[i] = m.classOf(label)
	}
	rows = d.rows.Project(column, len(sorted), class, classes)
	return rows, columns, m.compareDocuments(rows.Counts())
}

// classOf numbers the classes: of two sides the positive is 1, and of a joint model each has the number of its row. -1 is for
// documents that the model does not know.
func (m rankedModel) classOf(label string) int32 {
	first := m.models[0]
	switch {
	case first.Strategy == modelio.Joint:
		return int32(slices.IndexFunc(m.models, func(m modelio.ModelRow) bool { return m.Positive == label }))
	case label == first.Positive:
		return 1
	case first.Strategy == modelio.OneVersusRest || label == first.Negative:
		return 0
	}
	return -1
}

// compareDocuments compares the numbers of documents by class with those that were counted.
func (m rankedModel) compareDocuments(counts []float64) error {
	want := []*int64{m.models[0].DocsNegative, m.models[0].DocsPositive}
	if m.models[0].Strategy == modelio.Joint {
		want = nil
		for _, m := range m.models {
			want = append(want, m.DocsPositive)
		}
	}
	for class, n := range want {
		if n != nil && float64(*n) != counts[class] {
			return fmt.Errorf("%s: %v documents were read, but %d were counted; the input has probably changed", m.models[0].Key(), counts[class], *n)
		}
	}
	return nil
}

// SetFitted sets the fitted parameters in the tables, which must be ranked.
func (t *Tables) SetFitted() error {
	models, features := map[modelio.Key]int{}, map[modelio.Key]int{} // the first rows
	for i := len(t.models) - 1; i >= 0; i-- {
		models[t.models[i].Key()] = i
	}
	for i := len(t.features) - 1; i >= 0; i-- {
		features[t.features[i].Key()] = i
	}
	left := 0
	for _, m := range t.models {
		if Fitted(m.Classifier) {
			left += int(m.K)
		}
	}
	for _, f := range t.fitted {
		from, ok := models[f.Key]
		if !ok {
			return fmt.Errorf("a classifier was fitted for %s, for which there is no model", f.Key)
		}
		for i, intercept := range f.Intercepts {
			t.models[from+i].Intercept = intercept
		}
		for i, weight := range f.Weights {
			t.features[features[f.Key]+f.From+i].Weight = weight
		}
		left -= len(f.Weights)
	}
	if left != 0 {
		return fmt.Errorf("%d fitted weights are missing", left)
	}
	return nil
}
