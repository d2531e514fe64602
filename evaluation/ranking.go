package evaluation

import (
	"cmp"
	"math/bits"
	"slices"
)

// ScoreCount is how many documents of a class, and of all others, have a score.
type ScoreCount struct {
	Score              float64
	Positive, Negative int64
}

// Ranking counts documents by score. It keeps sorted runs, which it merges when they have similar lengths, so that adding
// takes a logarithmic number of steps. Runs are sorted by score, and have a score once.
type Ranking struct {
	Runs [][]ScoreCount

	recent []ScoreCount // not sorted
}

// maxRecent is how many counts are added before they are sorted.
const maxRecent = 512

func (r *Ranking) add(c ScoreCount) {
	c.Score += 0 // -0 becomes 0
	if r.recent = append(r.recent, c); len(r.recent) == maxRecent {
		r.flush()
	}
}

// flush makes a run of what was added.
func (r *Ranking) flush() {
	if len(r.recent) == 0 {
		return
	}
	slices.SortFunc(r.recent, func(a, b ScoreCount) int { return cmp.Compare(a.Score, b.Score) })
	run := make([]ScoreCount, 0, len(r.recent))
	for _, c := range r.recent {
		if last := len(run) - 1; last >= 0 && cmp.Compare(run[last].Score, c.Score) == 0 {
			run[last].Positive += c.Positive
			run[last].Negative += c.Negative
			continue
		}
		run = append(run, c)
	}
	r.recent = r.recent[:0]
	r.push(run)
}

// push adds a sorted run, which the ranking then owns.
func (r *Ranking) push(run []ScoreCount) {
	for n := len(r.Runs); n > 0 && len(r.Runs[n-1]) <= 2*len(run); n-- {
		run = mergeRuns(r.Runs[n-1], run)
		r.Runs = r.Runs[:n-1]
	}
	r.Runs = append(r.Runs, run)
}

func (r *Ranking) merge(o Ranking) {
	r.flush()
	for _, run := range o.Runs {
		r.push(run)
	}
	for _, c := range o.recent {
		r.add(c)
	}
}

// compact merges all runs into one.
func (r *Ranking) compact() {
	r.flush()
	for n := len(r.Runs); n > 1; n-- {
		r.Runs[n-2] = mergeRuns(r.Runs[n-2], r.Runs[n-1])
		r.Runs = r.Runs[:n-1]
	}
}

// size is the number of counts that are kept.
func (r *Ranking) size() int {
	n := len(r.recent)
	for _, run := range r.Runs {
		n += len(run)
	}
	return n
}

func mergeRuns(a, b []ScoreCount) []ScoreCount {
	merged := make([]ScoreCount, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch cmp.Compare(a[0].Score, b[0].Score) {
		case -1:
			merged, a = append(merged, a[0]), a[1:]
		case 1:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, ScoreCount{a[0].Score, a[0].Positive + b[0].Positive, a[0].Negative + b[0].Negative})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// auc returns the probability that a positive document has a higher score than a negative one; equal scores count half. It is
// the area under the ROC curve, see sklearn.metrics.roc_auc_score. ok is false if there are no positive or no negative ones.
func (r *Ranking) auc() (area float64, ok bool) {
	r.compact()
	if len(r.Runs) == 0 {
		return 0, false
	}
	var positive, below uint64
	var high, low uint64 // twice the number of pairs in the right order, in 128 bits
	for _, c := range r.Runs[0] {
		h, l := bits.Mul64(uint64(c.Positive), 2*below+uint64(c.Negative))
		var carry uint64
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h, carry)
		positive += uint64(c.Positive)
		below += uint64(c.Negative)
	}
	if positive == 0 || below == 0 {
		return 0, false
	}
	pairs := float64(high)*(1<<64) + float64(low)
	return pairs / (2 * float64(positive) * float64(below)), true
}
