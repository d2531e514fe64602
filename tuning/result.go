package tuning

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
)

// Metric is a figure by which models are compared.
type Metric string

// The metrics. Of LogLoss less is better.
const (
	Accuracy Metric = "accuracy"
	Balanced Metric = "balanced_accuracy"
	LogLoss  Metric = "log_loss"
)

// Metrics lists the metrics.
var Metrics = []Metric{Accuracy, Balanced, LogLoss}

// ParseMetric parses the name of a metric.
func ParseMetric(name string, strategy selection.Strategy) (Metric, error) {
	m := Metric(name)
	switch {
	case !slices.Contains(Metrics, m):
		return m, modelio.Usagef("--metric=%s: must be accuracy, balanced_accuracy or log_loss", name)
	case m == LogLoss && strategy == modelio.OneVersusOne:
		return m, modelio.Usagef("--metric=log_loss: --strategy=ovo has no probabilities; use accuracy or balanced_accuracy")
	}
	return m, nil
}

// Outline is what a result needs of a plan.
type Outline struct {
	Classes  []string
	Probable bool
	Expected [][]int64 // see Plan
	Selected [][]int64 // by fold and point: the number of features; the mean of the problems, rounded
}

// Outline returns the outline of the plan.
func (p *Plan) Outline() Outline {
	o := Outline{Classes: p.Classes, Expected: p.Expected, Probable: p.Strategy != modelio.OneVersusOne || len(p.Classes) == 2}
	for _, settings := range p.Tables {
		var selected []int64
		for _, tables := range settings {
			for i := range p.Smoothing * p.K {
				sum := int64(0)
				for _, t := range tables {
					sum += t.Selected[i]
				}
				selected = append(selected, int64(math.Round(float64(sum)/float64(len(tables)))))
			}
		}
		o.Selected = append(o.Selected, selected)
	}
	return o
}

// Complete reports whether the tally has the documents of each fold and class that were counted.
func (o Outline) Complete(t *Tally) bool {
	return slices.EqualFunc(t.Documents, o.Expected, func(a, b []int64) bool { return slices.Equal(a, b) })
}

// NewTally returns an empty tally.
func (o Outline) NewTally() *Tally {
	return newTally(len(o.Expected), len(o.Selected[0]), len(o.Classes))
}

// Result compares the models of a grid.
type Result struct {
	Grid         Grid
	Metric       Metric
	Points       []Scored // as Grid.Points
	Best, Chosen int      // places in Points
}

// Scored is a point with its figures by fold.
type Scored struct {
	Point
	Selected []int64              // the number of features
	Figures  map[Metric][]float64 // no LogLoss if there are no probabilities
	Weights  string
	Settings selection.Params
}

// Mean returns the mean over the folds and its standard error: the standard deviation, with n - 1, divided by √n.
func (s Scored) Mean(m Metric) (mean, standardError float64) {
	figures := s.Figures[m]
	n := float64(len(figures))
	for _, x := range figures {
		mean += x
	}
	mean /= n
	squares := 0.0
	for _, x := range figures {
		squares += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}

// MeanK is the mean number of features.
func (s Scored) MeanK() float64 {
	sum := int64(0)
	for _, k := range s.Selected {
		sum += k
	}
	return float64(sum) / float64(len(s.Selected))
}

// Alpha returns the smoothing of the point.
func (s Scored) Alpha() float64 { return s.Settings.Smoothing[s.Point.Smoothing] }

// Requested returns k as given.
func (s Scored) Requested() string { return s.Settings.K[s.Point.K].Text }

// NewResult compares the models by a metric.
func NewResult(g Grid, metric Metric, o Outline, t *Tally) Result {
	r := Result{Grid: g, Metric: metric}
	for i, p := range g.Points() {
		s := Scored{Point: p, Figures: map[Metric][]float64{}, Settings: g.Settings[p.Setting]}
		for f := range o.Expected {
			s.Selected = append(s.Selected, o.Selected[f][i])
			s.add(o.Expected[f], t.Figures[f][i], o.Probable)
		}
		r.Points = append(r.Points, s)
	}
	r.choose()
	return r
}

// add adds the figures of a fold. The balanced accuracy is the mean over the classes that have documents in the fold.
func (s *Scored) add(documents []int64, f Figures, probable bool) {
	all, correct, recall, classes := int64(0), int64(0), 0.0, 0
	for c, n := range documents {
		if n == 0 {
			continue
		}
		all, correct, classes = all+n, correct+f.Correct[c], classes+1
		recall += float64(f.Correct[c]) / float64(n)
	}
	add := func(m Metric, x float64) { s.Figures[m] = append(s.Figures[m], x) }
	add(Accuracy, float64(correct)/float64(all))
	add(Balanced, recall/float64(classes))
	if probable {
		add(LogLoss, f.LogLoss.Float()/float64(all))
	}
}

// choose finds the best point, and chooses by the one-standard-error rule: of the points whose mean is within one standard
// error of the best, those of the standard error of the best point, the one with the fewest features. Of equal ones it takes
// that with the better mean, then the larger smoothing, then the first of the grid. The best is that with the best mean; of
// equal ones that with the fewest features, and then the same.
func (r *Result) choose() {
	worse := func(i int) float64 { // less is better
		mean, _ := r.Points[i].Mean(r.Metric)
		if r.Metric == LogLoss {
			return mean
		}
		return -mean
	}
	byMean := func(i, j int) int { return cmp.Compare(worse(i), worse(j)) }
	byK := func(i, j int) int { return cmp.Compare(r.Points[i].MeanK(), r.Points[j].MeanK()) }
	rest := func(i, j int) int {
		return cmp.Or(cmp.Compare(r.Points[j].Alpha(), r.Points[i].Alpha()), cmp.Compare(i, j))
	}
	for i := range r.Points {
		if cmp.Or(byMean(i, r.Best), byK(i, r.Best), rest(i, r.Best)) < 0 {
			r.Best = i
		}
	}
	_, standardError := r.Points[r.Best].Mean(r.Metric)
	r.Chosen = r.Best
	for i := range r.Points {
		if worse(i) <= worse(r.Best)+standardError && cmp.Or(byK(i, r.Chosen), byMean(i, r.Chosen), rest(i, r.Chosen)) < 0 {
			r.Chosen = i
		}
	}
}

// Rows returns the rows of tuning.parquet. counted is the name of the weights of the counts.
func (r Result) Rows(o Outline, counted string) (rows []modelio.TuningRow) {
	for i, s := range r.Points {
		row := modelio.TuningRow{
			Model: s.Settings.Model.String(), Weights: WeightsOf(s.Settings, counted), MinDF: s.Settings.Pruning.MinDF.Text,
			Smoothing: s.Alpha(), KRequested: s.Requested(),
		}
		mean := row
		var deviation float64
		mean.K, mean.Best, mean.Chosen = s.MeanK(), i == r.Best, i == r.Chosen
		mean.Accuracy, deviation = s.Mean(Accuracy)
		mean.AccuracyError = new(deviation)
		mean.Balanced, deviation = s.Mean(Balanced)
		mean.BalancedError = new(deviation)
		if o.Probable {
			loss, deviation := s.Mean(LogLoss)
			mean.LogLoss, mean.LogLossError = &loss, &deviation
		}
		var folds []modelio.TuningRow
		for f, k := range s.Selected {
			row := row
			row.K, row.Fold = float64(k), new(int64(f))
			for _, n := range o.Expected[f] {
				row.Documents += n
			}
			mean.Documents += row.Documents
			row.Accuracy, row.Balanced = s.Figures[Accuracy][f], s.Figures[Balanced][f]
			if o.Probable {
				row.LogLoss = new(s.Figures[LogLoss][f])
			}
			folds = append(folds, row)
		}
		rows = append(append(rows, mean), folds...)
	}
	return rows
}

// String names a metric in a sentence.
func (m Metric) String() string {
	switch m {
	case Balanced:
		return "balanced accuracy"
	case LogLoss:
		return "log loss"
	}
	return "accuracy"
}

// Format formats a figure.
func (m Metric) Format(x float64) string {
	if m == LogLoss {
		return fmt.Sprintf("%.4f", x)
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}
