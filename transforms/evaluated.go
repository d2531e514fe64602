package transforms

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/evaluation"
	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/selection"
)

// evaluated is what was found in documents.
type evaluated struct {
	judges
	documents, moreLabels int64
	labels                evaluation.Labels
	tallies               []*evaluation.Tally // by decision

	mu sync.Mutex // of merge
}

func newEvaluated(j judges) *evaluated {
	e := &evaluated{judges: j, tallies: make([]*evaluation.Tally, len(j.decisions))}
	for i, d := range j.decisions {
		e.tallies[i] = evaluation.New(d, evaluation.MaxScores/len(j.decisions))
	}
	return e
}

// add adds a document of a class.
func (e *evaluated) add(label string, scores, others []model.Scores, times int64) {
	for i, d := range e.decisions {
		class := evaluation.ClassOf(d, e.known, label)
		if class < 0 {
			continue
		}
		e.tallies[i].Add(class, scores[i], times)
		if pair := e.pairs[i]; pair >= 0 {
			other := evaluation.ClassOf(e.others[pair], e.knownOthers, label)
			e.tallies[i].Against.Add(scores[i].Class == class, others[pair].Class == other, times)
		}
	}
}

func (e *evaluated) size() (n int) {
	for _, t := range e.tallies {
		n += t.Size()
	}
	return n
}

func (e *evaluated) merge(documents, moreLabels int64, labels evaluation.Labels) {
	e.documents += documents
	e.moreLabels += moreLabels
	e.labels.Merge(labels)
}

// EvaluationPiece is a piece of what was found in documents.
type EvaluationPiece struct {
	Documents, MoreLabels int64
	Labels                evaluation.Labels
	Tallies               []DecisionTally
}

// DecisionTally is a piece of the tally of a decision, by its index in those that are made.
type DecisionTally struct {
	Decision int
	Tally    *evaluation.Tally
}

// pieces cuts what was found into pieces that add up to it.
func (e *evaluated) pieces() ([]EvaluationPiece, error) {
	rest := EvaluationPiece{Documents: e.documents, MoreLabels: e.moreLabels, Labels: e.labels}
	rest.Labels.Unknown.ByName = nil
	unknown, err := cut(slices.Sorted(maps.Keys(e.labels.Unknown.ByName)), func(labels []string) EvaluationPiece {
		piece := EvaluationPiece{Labels: evaluation.Labels{Unknown: corpusio.LabelCounts{ByName: map[string]int64{}}}}
		for _, label := range labels {
			piece.Labels.Unknown.ByName[label] = e.labels.Unknown.ByName[label]
		}
		return piece
	})
	if err != nil {
		return nil, err
	}
	pieces := append([]EvaluationPiece{rest}, unknown...)
	var next EvaluationPiece
	size := 0
	for i, t := range e.tallies {
		for _, piece := range t.Pieces() {
			if size += piece.Size(); size > evaluation.MaxPieceSize && next.Tallies != nil {
				pieces = append(pieces, next)
				next, size = EvaluationPiece{}, piece.Size()
			}
			next.Tallies = append(next.Tallies, DecisionTally{i, piece})
		}
	}
	return append(pieces, next), nil
}

func (e *evaluated) rows() (rows []modelio.EvaluationRow) {
	for i, t := range e.tallies {
		rows = append(rows, evaluation.Figures(t, e.labels)...)
		if pair := e.pairs[i]; pair >= 0 {
			rows = append(rows, evaluation.AgainstFigures(t, e.others[pair])...)
		}
	}
	slices.SortFunc(rows, modelio.EvaluationRow.Compare)
	return rows
}

// refusal says why nothing can be evaluated, or "".
func (e *evaluated) refusal() string {
	if e.labels.Known > 0 {
		return ""
	}
	if unknown := e.labels.UnknownDocuments(); unknown > 0 {
		return fmt.Sprintf("no document has a label that the model knows: the documents have %s; the classes of the model are %s; rename labels with --label_map=FILE, or choose their column with --label_column",
			e.unknown(), selection.ListLabels(e.known))
	}
	if e.labels.Without > 0 {
		return "no document has a label, so there is nothing to compare the predictions with; choose the column of the labels with --label_column, or give the label of files with --class=LABEL=GLOB; \"sparsenb predict\" needs no labels"
	}
	return "all documents have the weight 0"
}

// unknown lists the labels that the model does not know.
func (e *evaluated) unknown() string {
	return modelio.NewOtherClasses(e.labels.UnknownDocuments(), e.labels.Unknown).String()
}

// warnings says what limits the figures.
func (e *evaluated) warnings(rows []modelio.EvaluationRow) (list []string) {
	if n := e.labels.UnknownDocuments(); n > 0 {
		list = append(list, fmt.Sprintf("not evaluated: %s with labels that the model does not know: %s; its classes are %s; --label_map renames labels",
			countOf(n, "document"), e.unknown(), selection.ListLabels(e.known)))
	}
	if n := e.labels.Without; n > 0 {
		list = append(list, fmt.Sprintf("not evaluated: %s without a label", countOf(n, "document")))
	}
	if e.moreLabels > 0 {
		list = append(list, fmt.Sprintf("documents have %s beyond their first; a document is evaluated once for each of its labels, and at most one of them can be predicted", countOf(e.moreLabels, "label")))
	}
	var missing []string
	for _, row := range rows {
		if row.Metric == evaluation.Support && row.Value == 0 {
			missing = append(missing, row.Class)
		}
	}
	slices.Sort(missing)
	if missing = slices.Compact(missing); len(missing) > 0 {
		list = append(list, fmt.Sprintf("no document has the label %s, so there is no AUC, and balanced accuracy is the mean of the other classes", selection.ListLabels(missing)))
	}
	tooMany := 0
	for _, t := range e.tallies {
		if t.TooManyScores {
			tooMany++
		}
	}
	if tooMany > 0 {
		list = append(list, fmt.Sprintf("no AUC for %d of %d models: they have more than %s distinct scores each; evaluate a sample, or fewer models at once with --k",
			tooMany, len(e.tallies), humanize.Comma(int64(evaluation.MaxScores/len(e.tallies)))))
	}
	return list
}

// countOf is a number with its noun.
func countOf(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return humanize.Comma(n) + " " + noun + "s"
}
