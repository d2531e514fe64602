package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// Decision is a rule that assigns a document to a class: the model of the only two classes, or the models of all problems of
// a strategy with one k and smoothing together. A run whose problems do not tell all classes apart, as with --positive, has a
// decision for each problem, between the positive class and the other side.
type Decision struct {
	Problem    string // of the model if there is one, otherwise the strategy: ovr, ovo or joint
	Strategy   string // of the models: binary, ovr, ovo or joint
	Classifier string // of the models: mnb, bnb, cnb, logistic or svm
	K          int64  // the largest one if the problems have different ones, which a rule such as auto:knee has chosen
	Requested  string // the k on the command line, such as 1%; several that give the same models are joined by commas
	Mixed      bool   // the problems have different ks; another decision may have the same K
	Smoothing  float64
	Classes    []string // sorted by bytes, but for the rest
	Rest       bool     // the last class is all other classes. It is called "rest", or "not rest" beside a class "rest"
	Probable   bool     // there are probabilities: not for ovo and svm, as in scikit-learn
}

// String names the decision in a message.
func (d Decision) String() string {
	k := fmt.Sprint(d.K)
	if d.Mixed {
		k = fmt.Sprintf("%s (at most %d)", d.Requested, d.K)
	}
	return fmt.Sprintf("%s, smoothing %v, k = %s", d.Problem, d.Smoothing, k)
}

// classifierOf returns the classifier of a model, whose column may be missing in older files.
func classifierOf(row modelio.ModelRow) string {
	return cmp.Or(row.Classifier, modelio.DefaultClassifier(row.Model))
}

// rule says how a decision uses functions.
type rule struct {
	decide    func(p *Predictor, r *rule, s *Scores)
	functions []int32 // of Model.functions: of two classes one, by class for ovr and joint, by pairs of classes for ovo
	positive  int     // of two classes, the class that the function is for
	margins   bool    // ovo: confidences are log-odds, and not probabilities
}

// problem is a model of two sides, or a joint model.
type problem struct {
	row       modelio.ModelRow // the first
	functions []int32
}

// group has the problems of one strategy, smoothing and request of k.
type group struct {
	texts    []string
	problems []problem
}

// decide makes the decisions.
func (m *Model) decide(rows []modelio.ModelRow) error {
	for _, g := range groups(rows) {
		decisions, rules, err := m.decisionsOf(g)
		if err != nil {
			return err
		}
		m.decisions, m.rules = append(m.decisions, decisions...), append(m.rules, rules...)
	}
	order := make([]int, len(m.decisions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := m.decisions[i], m.decisions[j]
		return cmp.Or(cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Smoothing, b.Smoothing), cmp.Compare(a.K, b.K), cmp.Compare(a.Requested, b.Requested))
	})
	decisions, rules := make([]Decision, len(order)), make([]rule, len(order))
	for at, i := range order {
		decisions[at], rules[at] = m.decisions[i], m.rules[i]
	}
	m.decisions, m.rules = decisions, rules
	return nil
}

// groups returns the problems that belong together. A rule such as auto:knee chooses a k for each problem, so they are found by
// the request. Requests that have the same models are one group.
func groups(rows []modelio.ModelRow) (list []group) {
	type request struct {
		strategy, text string
		smoothing      float64
	}
	var order []request
	found := map[request][]problem{}
	for at := 0; at < len(rows); {
		p := problem{row: rows[at]}
		for at < len(rows) && rows[at].Key() == p.row.Key() {
			p.functions = append(p.functions, int32(at))
			at++
		}
		for _, text := range strings.Split(p.row.KRequested, ",") {
			r := request{p.row.Strategy, text, p.row.Smoothing}
			if found[r] == nil {
				order = append(order, r)
			}
			found[r] = append(found[r], p)
		}
	}
	same := map[string]int{}
	for _, r := range order {
		problems := found[r]
		functions := fmt.Sprint(functionsOfAll(problems))
		if i, ok := same[functions]; ok {
			list[i].texts = append(list[i].texts, r.text)
			continue
		}
		same[functions] = len(list)
		list = append(list, group{[]string{r.text}, problems})
	}
	return list
}

func functionsOfAll(problems []problem) (all []int32) {
	for _, p := range problems {
		all = append(all, p.functions...)
	}
	return all
}

func (m *Model) decisionsOf(g group) (decisions []Decision, rules []rule, err error) {
	first := g.problems[0].row
	d := Decision{
		Problem: first.Strategy, Strategy: first.Strategy, Classifier: classifierOf(first), K: first.K, Requested: strings.Join(g.texts, ","),
		Smoothing: first.Smoothing,
	}
	d.Probable = d.Classifier != modelio.SVM
	for _, p := range g.problems[1:] {
		d.Mixed = d.Mixed || p.row.K != d.K
		d.K = max(d.K, p.row.K)
	}
	var r rule
	switch first.Strategy {
	case modelio.Joint:
		d.Problem = first.Problem
		for _, f := range g.problems[0].functions {
			d.Classes = append(d.Classes, m.functions[f].positive)
		}
		r = rule{decide: byScore, functions: g.problems[0].functions}
	case modelio.OneVersusRest:
		d.Classes, r = ovr(g.problems)
	case modelio.OneVersusOne:
		d.Classes, r = ovo(g.problems)
		r.margins, d.Probable = d.Classifier == modelio.SVM || d.Classifier == modelio.Logistic, false
	case modelio.Binary:
	default:
		return nil, nil, fmt.Errorf("%s: unknown strategy %q; the model was probably written by a newer version of sparsenb", first.Key(), first.Strategy)
	}
	if r.decide != nil {
		return []Decision{d}, []rule{r}, nil
	}
	for _, p := range g.problems {
		d.Problem, d.K, d.Mixed, d.Probable = p.row.Problem, p.row.K, false, d.Classifier != modelio.SVM
		d.Rest = p.row.Strategy == modelio.OneVersusRest
		r := rule{decide: byLogOdds, functions: p.functions}
		switch {
		case !d.Rest && p.row.Negative < p.row.Positive:
			d.Classes, r.positive = []string{p.row.Negative, p.row.Positive}, 1
		case !d.Rest:
			d.Classes = []string{p.row.Positive, p.row.Negative}
		case p.row.Positive == "rest":
			d.Classes = []string{"rest", "not rest"}
		default:
			d.Classes = []string{p.row.Positive, "rest"}
		}
		decisions, rules = append(decisions, d), append(rules, r)
	}
	return decisions, rules, nil
}

// ovr returns the classes and the rule of one problem for each class; no rule if there is only one.
func ovr(problems []problem) (classes []string, r rule) {
	if len(problems) < 2 {
		return nil, r
	}
	problems = slices.SortedFunc(slices.Values(problems), func(a, b problem) int { return cmp.Compare(a.row.Positive, b.row.Positive) })
	r.decide = byOdds
	for _, p := range problems {
		classes, r.functions = append(classes, p.row.Positive), append(r.functions, p.functions...)
	}
	return classes, r
}

// ovo returns the classes and the rule of a problem for each pair of classes, of which the first is the positive one; no rule if
// pairs are missing.
func ovo(problems []problem) (classes []string, r rule) {
	type pair struct{ positive, negative string }
	pairs := map[pair]int32{}
	for _, p := range problems {
		classes = append(classes, p.row.Positive, p.row.Negative)
		pairs[pair{p.row.Positive, p.row.Negative}] = p.functions[0]
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	for i, a := range classes {
		for _, b := range classes[i+1:] {
			f, ok := pairs[pair{a, b}]
			if !ok || len(classes) < 3 {
				return nil, rule{}
			}
			r.functions = append(r.functions, f)
		}
	}
	r.decide = byVotes
	return classes, r
}
