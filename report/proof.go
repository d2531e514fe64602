package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Proof says in plain words what is proven about the models of a run, a paragraph each. It is empty if there are no models.
func Proof(p modelio.Published) (paragraphs []string) {
	// A joint model has a row for each class.
	rows := slices.CompactFunc(slices.Clone(p.Models), func(a, b modelio.ModelRow) bool { return a.Key() == b.Key() })
	if len(rows) == 0 {
		return nil
	}
	noun := NewCorpus(p.Manifest).Feature
	paragraphs = append(paragraphs, fmt.Sprintf("The gain says how much better a model fits the counts with the selected %ss than without any (log-likelihood).", noun))
	byKind := map[kind][]modelio.ModelRow{}
	for _, row := range rows {
		byKind[kindOf(row)] = append(byKind[kindOf(row)], row)
	}
	for k := kind(0); k < kinds; k++ {
		of := byKind[k]
		if len(of) == 0 {
			continue
		}
		// The largest distance from the bound stands for the others.
		worst := slices.MaxFunc(of, func(a, b modelio.ModelRow) int { return cmp.Compare(a.Gap/a.UpperBoundGain, b.Gap/b.UpperBoundGain) })
		if len(rows) == 1 {
			paragraphs = append(paragraphs, k.ofOne(worst, noun, p))
		} else {
			paragraphs = append(paragraphs, k.ofSeveral(len(of), len(rows), worst, noun, p))
		}
	}
	if tied := slices.IndexFunc(rows, func(m modelio.ModelRow) bool { return m.TiedLeftOut > 0 && kindOf(m) != noGain }); tied >= 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("Ties: some selected %ss could be exchanged for others that were not selected, without changing the gain. "+
			"That the others are missing does not mean that they matter less.", noun))
	}
	if weights := classifierOf(p); weights != "" {
		paragraphs = append(paragraphs, fmt.Sprintf("This is about the naive Bayes model that selected the %ss. The %s were computed for them afterwards.", noun, weights))
	}
	return append(paragraphs, "All this is about the documents that were counted. How well a model classifies other documents is not proven; sparsenb evaluate measures it.")
}

// kind is what is known about a selection.
type kind int

const (
	noGain  kind = iota // no selection of this size can gain anything
	all                 // all features are selected
	tight               // the gain equals the bound, whatever the method
	optimal             // the bound is higher than the gain
	bounded
	heuristic
	kinds
)

func kindOf(m modelio.ModelRow) kind {
	switch {
	case m.Gain == 0 && m.Certificate == "optimal":
		return noGain
	case m.K == m.M:
		return all
	case IsRounding(m.Gap, m.UpperBoundGain):
		return tight
	case m.Certificate == "optimal":
		return optimal
	case m.Certificate == "bounded":
		return bounded
	}
	return heuristic
}

func (k kind) ofOne(m modelio.ModelRow, noun string, p modelio.Published) string {
	others := fmt.Sprintf("no other %s of the %s have", humanize.Comma(m.K), Plural(m.M, noun))
	if m.K == 1 {
		others = fmt.Sprintf("no other of the %s has", Plural(m.M, noun))
	}
	switch k {
	case noGain:
		return noGainOf(m, noun)
	case all:
		return fmt.Sprintf("All %ss are selected, so there is no other selection.", noun)
	case tight:
		return fmt.Sprintf("Proven: %s a larger gain. No selection can exceed the upper bound, and this one reaches it.", others)
	case optimal:
		return fmt.Sprintf("Proven: %s a larger gain. The upper bound is %s (%s) higher than the gain, but the search excluded every other selection. "+
			"So the difference is a weakness of the bound, not of the selection.", others, Gain(m.Gap), percent(m))
	case bounded:
		return fmt.Sprintf("Not proven optimal: the search stopped before it had excluded every other selection. "+
			"Another one may have a larger gain, but larger by at most %s, which is %s of the upper bound%s.", Gain(m.Gap), percent(m), worth(m, noun, p))
	}
	return fmt.Sprintf("The %ss were ranked by %s, which does not look for the largest gain. "+
		"The best %s may gain more, by at most %s, which is %s of the upper bound%s. --method=nfs, the default, looks for them.",
		noun, m.Method, Plural(m.K, noun), Gain(m.Gap), percent(m), worth(m, noun, p))
}

func (k kind) ofSeveral(n, of int, worst modelio.ModelRow, noun string, p modelio.Published) string {
	models, are := fmt.Sprintf("%d of %d models", n, of), "are"
	switch {
	case n == of && n == 2:
		models = "Both models"
	case n == of:
		models = fmt.Sprintf("All %d models", n)
	}
	if n == 1 {
		are = "is"
	}
	switch k {
	case noGain:
		if n == 1 {
			return fmt.Sprintf("%s gains nothing. %s", models, noGainOf(worst, noun))
		}
		return fmt.Sprintf("%s gain nothing. %s", models, noGainOf(worst, noun))
	case all:
		return fmt.Sprintf("%s: all %ss are selected, so there is no other selection.", models, noun)
	case tight:
		return fmt.Sprintf("%s %s proven optimal: no other selection of the same size has a larger gain. None can exceed the upper bound, and these reach it.", models, are)
	case optimal:
		return fmt.Sprintf("%s %s proven optimal, although the upper bound is higher than the gain, by %s at most (%s): the search excluded every other selection.",
			models, are, percent(worst), worst.Key())
	case bounded:
		return fmt.Sprintf("%s %s not proven optimal: the search stopped before it had excluded every other selection. "+
			"Another one may have a larger gain, but larger by at most %s of the upper bound (%s)%s.", models, are, percent(worst), worst.Key(), worth(worst, noun, p))
	}
	return fmt.Sprintf("%s: the %ss were ranked by %s, which does not look for the largest gain. "+
		"The best selection may gain more, by at most %s of the upper bound (%s)%s. --method=nfs, the default, looks for it.",
		models, noun, worst.Method, percent(worst), worst.Key(), worth(worst, noun, p))
}

func noGainOf(m modelio.ModelRow, noun string) string {
	if m.K == 1 && m.M > 1 && m.Model == "multinomial" && m.UpperBoundGain > 0 {
		return fmt.Sprintf("One %s alone gains nothing in a multinomial model, whichever it is: the probabilities of a class add up to 1, so two have to differ. Use k ≥ 2.", noun)
	}
	return fmt.Sprintf("No %ss gain anything: the classes do not differ in their counts.", noun)
}

// worth says how many of the selected features gain as much as the gap. It is empty if all together gain less.
func worth(m modelio.ModelRow, noun string, p modelio.Published) string {
	byRank := map[int64]float64{} // a joint model has a row for each class
	for _, f := range p.Of(m) {
		byRank[f.Rank] += f.Score
	}
	gains := make([]float64, 0, len(byRank))
	for _, gain := range byRank {
		gains = append(gains, gain)
	}
	slices.Sort(gains)
	sum := 0.0
	for i, gain := range gains {
		if sum += gain; sum >= m.Gap {
			if i == 0 {
				return fmt.Sprintf(", less than the weakest selected %s gains", noun)
			}
			return fmt.Sprintf(", as much as the weakest %d selected %ss gain", i+1, noun)
		}
	}
	return ""
}
