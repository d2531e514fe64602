package model

import "math"

// byLogOdds decides between two classes: the first one of equal probability.
func byLogOdds(p *Predictor, r *rule, s *Scores) {
	odds := p.score(r.functions[0]) // of the positive class
	if r.positive == 1 {
		odds = odds.negative() // of the first class
	}
	s.Class = 0
	if odds.compare(score{}) < 0 {
		s.Class = 1
	}
	s.Scores[0], s.Scores[1] = odds.float(), odds.negative().float()
	s.Scores[0], s.Scores[1] = s.Scores[0]+0, s.Scores[1]+0 // never -0
	if s.LogProbs != nil {
		s.LogProbs[0], s.LogProbs[1] = math.Inf(-1), math.Inf(-1)
		if odds.order >= 0 {
			s.LogProbs[0] = odds.logSigmoid().finite
		}
		if odds.order <= 0 {
			s.LogProbs[1] = odds.negative().logSigmoid().finite
		}
	}
}

// byOdds is scikit-learn's OneVsRestClassifier: the class with the highest log-odds against the rest, and the probabilities
// against the rest divided by their sum.
func byOdds(p *Predictor, r *rule, s *Scores) {
	scores := p.scores[:len(r.functions)]
	for c, f := range r.functions {
		scores[c] = p.score(f)
		s.Scores[c] = scores[c].float()
	}
	s.Class = highest(scores)
	if s.LogProbs != nil {
		for c := range scores {
			scores[c] = scores[c].logSigmoid()
		}
		normalize(s.LogProbs, scores)
	}
}

// byScore decides by the scores of a joint model, which are logarithms of probabilities up to a constant.
func byScore(p *Predictor, r *rule, s *Scores) {
	scores := p.scores[:len(r.functions)]
	for c, f := range r.functions {
		scores[c] = p.score(f)
	}
	s.Class = highest(scores)
	top := scores[s.Class].order
	for c, x := range scores {
		s.Scores[c] = math.Inf(-1)
		if x.order == top {
			s.Scores[c] = x.finite
		}
	}
	if s.LogProbs != nil {
		normalize(s.LogProbs, scores)
	}
}

// byVotes is scikit-learn's OneVsOneClassifier: the class with most votes of the pairs, and of these the one with the highest
// sum of confidences, squeezed into (-1/3, 1/3). A confidence is the probability of the second class of a pair, or its decision
// value.
func byVotes(p *Predictor, r *rule, s *Scores) {
	n := len(s.Scores)
	votes, sums := p.votes[:n], s.Scores
	clear(votes)
	clear(sums)
	pair := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			odds := p.score(r.functions[pair])
			pair++
			confidence := odds.negative().sigmoid()
			if r.margins {
				confidence = odds.negative().float()
			}
			sums[i] -= confidence
			sums[j] += confidence
			if odds.compare(score{}) >= 0 {
				votes[i]++
			} else {
				votes[j]++
			}
		}
	}
	s.Class = 0
	for c := range sums {
		sums[c] = votes[c] + sums[c]/(3*(math.Abs(sums[c])+1))
		if sums[c] > sums[s.Class] {
			s.Class = c
		}
	}
}
