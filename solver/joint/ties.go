package joint

import (
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/solver/internal/topk"
)

// Ties is [solver.Problem.Ties] for several classes.
func (p Problem) Ties(take []int64) (selected, leftOut int64) {
	if p.Model != solver.Bernoulli {
		return topk.CountTies(take, p.Size)
	}
	presence := newPresence(newParameters(p, newRanking(p), nil))
	return topk.RankTies(take, p.Size, func(i int) float64 { return presence.score(p.Entries(i)) })
}
