package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/feature"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/solver"
	"github.com/sparsenb/sparsenb/verify"
)

// rules returns a pruning, given the options of a run, and the names of vocabulary and exclude.
func rules(t testing.TB, options map[string]string, vocabulary, exclude []string) selection.Pruning {
	t.Helper()
	p, err := selection.ParsePruning(options)
	if err != nil {
		t.Fatal(err)
	}
	for names, list := range map[*selection.Names][]string{&p.Vocabulary: vocabulary, &p.Exclude: exclude} {
		if list == nil {
			continue
		}
		if *names, err = selection.ReadNames(t.Context(), save(t, "names.txt", strings.Join(list, "\n"))); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// counted are the counts of a feature by class.
type counted struct {
	name              string
	counts, documents []float64
}

func sum(list []float64) (s float64) {
	for _, n := range list {
		s += n
	}
	return s
}

// pruneByHand applies the rules to features one after the other, and adds the absent names of the vocabulary.
func pruneByHand(features []counted, vocabulary, exclude []string, least, most, minCount float64, maxFeatures int) (left []counted) {
	present := map[string]bool{}
	for _, f := range features {
		present[f.name] = true
	}
	all := slices.Clone(features)
	for _, name := range vocabulary {
		if !present[name] {
			all = append(all, counted{name, make([]float64, len(features[0].counts)), make([]float64, len(features[0].counts))})
		}
	}
	for _, f := range all {
		if n := sum(f.documents); vocabulary != nil && !slices.Contains(vocabulary, f.name) || slices.Contains(exclude, f.name) ||
			n < least || n > most || sum(f.counts) < minCount {
			continue
		}
		left = append(left, f)
	}
	if maxFeatures > 0 && len(left) > maxFeatures {
		id := func(f counted) int64 {
			key, _ := feature.Hash([]byte(f.name))
			return feature.ID(key)
		}
		slices.SortFunc(left, func(a, b counted) int {
			return cmp.Or(cmp.Compare(sum(b.counts), sum(a.counts)), cmp.Compare(id(a), id(b)), cmp.Compare(a.name, b.name))
		})
		left = left[:maxFeatures]
	}
	return left
}

// longTable writes features as a custom table, with the rows in random order. Every feature has a row, and every class.
func longTable(t testing.TB, rng *rand.Rand, features []counted, labels []string) string {
	var rows []string
	for i, f := range features {
		for c, label := range labels {
			if i == 0 || c == 0 || f.counts[c] > 0 {
				rows = append(rows, fmt.Sprintf("%s,%s,%v,%v\n", f.name, label, f.counts[c], f.documents[c]))
			}
		}
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return save(t, "counts.csv", "feature,class,count,documents\n"+strings.Join(rows, ""))
}

// A selection from pruned counts has the bytes of one from a table without the features that were left out.
func TestPrunedSelectionIsThatOfAPrunedTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	labels := []string{"a", "b", "c"}
	documents := map[string]int64{"a": 50, "b": 30, "c": 20}
	for i, c := range []struct {
		options                     map[string]string
		vocabulary, exclude         []string
		least, most, minCount       float64
		maxFeatures                 int
		model, method, strategy, ks string
	}{
		{options: map[string]string{"min_df": "5"}, least: 5, model: "multinomial", strategy: "ovr", ks: "7 100%"},
		{options: map[string]string{"min_df": "4%", "max_df": "0.3"}, least: 4, most: 30, model: "bernoulli", strategy: "ovo", ks: "10% auto:gain=90%"},
		{options: map[string]string{"max_df": "25"}, most: 25, model: "multinomial", strategy: "joint", ks: "7 100%"},
		{options: map[string]string{"min_count": "9"}, minCount: 9, model: "multinomial", method: "chi2", strategy: "ovr", ks: "5 50%"},
		{options: map[string]string{"max_features": "60"}, maxFeatures: 60, model: "multinomial", strategy: "ovr", ks: "5 100%"},
		{options: map[string]string{"max_features": "10", "min_df": "2", "max_df": "20%"}, least: 2, most: 20, maxFeatures: 10, model: "bernoulli", strategy: "joint", ks: "3"},
		{options: map[string]string{"max_features": "9999"}, maxFeatures: 9999, model: "multinomial", strategy: "ovr", ks: "5"},
		{vocabulary: []string{"w1", "w2", "w3", "w44", "none", "never"}, model: "multinomial", strategy: "ovr", ks: "3 100%"},
		{vocabulary: []string{"w1", "w2", "w3", "w44", "none", "never"}, model: "bernoulli", strategy: "joint", ks: "3 100%"},
		{vocabulary: []string{"w1", "w2", "w3", "w44", "none", "never"}, model: "multinomial", strategy: "ovo", method: "mutual_information", ks: "3 100%"},
		{vocabulary: []string{"w1", "w2", "w3", "none", "never"}, exclude: []string{"w2", "never", "other"}, maxFeatures: 3, options: map[string]string{"max_features": "3"}, model: "multinomial", strategy: "joint", ks: "2 100%"},
		{exclude: []string{"w0", "w1", "other"}, minCount: 2, options: map[string]string{"min_count": "2", "min_df": "1"}, least: 1, model: "multinomial", strategy: "ovo", ks: "auto:knee"},
	} {
		var features []counted
		for f := range 200 {
			one := counted{name: fmt.Sprintf("w%d", f), counts: make([]float64, 3), documents: make([]float64, 3)}
			for j, label := range labels {
				if rng.IntN(3) > 0 {
					one.documents[j] = float64(rng.Int64N(1 + min(documents[label], 1+int64(400/(f+1)))))
					one.counts[j] = one.documents[j] * float64(1+rng.IntN(2))
				}
			}
			features = append(features, one)
		}
		if c.most == 0 {
			c.most = math.Inf(1)
		}
		byHand := pruneByHand(features, c.vocabulary, c.exclude, c.least, c.most, c.minCount, c.maxFeatures)
		sel := choose(t, "", strings.Fields(c.ks)...)
		sel.Model, sel.Strategy = parseModel(t, c.model), selection.Strategy(c.strategy)
		if c.method != "" {
			sel.Method = selectionMethod(t, c.method)
		}
		want, got := filepath.Join(t.TempDir(), "want"), filepath.Join(t.TempDir(), "got")
		if err := runSelect(t, want, longTable(t, rng, byHand, labels), documents, sel); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		sel.Pruning = rules(t, c.options, c.vocabulary, c.exclude)
		if err := runSelect(t, got, longTable(t, rng, features, labels), documents, sel); err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		a, b := sums(t, want), sums(t, got)
		if !maps.Equal(a, b) {
			t.Errorf("case %d: %v differ", i, differing(a, b))
		}
		p := read(t, got).Manifest.Pruning
		if p.Features != int64(len(byHand)) {
			t.Errorf("case %d: %d features are left, want %d", i, p.Features, len(byHand))
		}
		features2, occurrences := p.Features-p.Absent, p.Occurrences
		for _, r := range p.LeftOut {
			features2, occurrences = features2+r.Features, occurrences+r.Occurrences
		}
		if all := sum(flat(features)); features2 != 200 || occurrences != all {
			t.Errorf("case %d: %+v is not of 200 features with %v occurrences", i, p, all)
		}
		if _, err := verify.Run(t.Context(), got); err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
}

func selectionMethod(t testing.TB, method string) solver.Method {
	t.Helper()
	p, err := selection.ParseParams(map[string]string{"k": "1", "smoothing": "1", "model": "multinomial", "strategy": "ovr", "method": method})
	if err != nil {
		t.Fatal(err)
	}
	return p.Method
}

func flat(features []counted) (list []float64) {
	for _, f := range features {
		list = append(list, f.counts...)
	}
	return list
}

// A run that prunes has the counts of one that does not, and selects the same as a selection from them, however the counts are
// divided.
func TestPrunedTrain(t *testing.T) {
	pattern := spread(t, corpus(t), 3, "")
	names := []string{"upon", "whilst", "the", "été", "never", "zzz", "word7"}
	for i, p := range []selection.Pruning{
		rules(t, map[string]string{"min_df": "2", "max_df": "50%", "max_features": "777"}, nil, nil),
		rules(t, map[string]string{"max_features": "3000"}, nil, names),
		rules(t, map[string]string{"min_count": "2"}, nil, names),
		rules(t, map[string]string{"max_features": "6"}, names, nil),
		rules(t, nil, names, nil),
	} {
		var first map[string]string
		for _, shards := range []int{64, 1, 5} {
			d := documents(t, pattern)
			d.Shards = shards
			sel := choose(t, "", "5", "100%")
			plain, pruned, selected := filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "pruned"), filepath.Join(t.TempDir(), "selected")
			if err := trainOn(Runner{}, plain, d, sel); err != nil {
				t.Fatal(err)
			}
			sel.Pruning = p
			if err := runTrain(t, pruned, d, sel); err != nil {
				t.Fatalf("pruning %d: %v", i, err)
			}
			if err := runSelect(t, selected, plain, nil, sel); err != nil {
				t.Fatalf("pruning %d: %v", i, err)
			}
			before, got := sums(t, plain), sums(t, pruned)
			tables := map[string]string{}
			for name, hash := range got {
				if before[name] == hash {
					continue
				}
				if tables[name] = hash; strings.HasPrefix(name, "counts/") {
					t.Errorf("pruning %d changed %s", i, name)
				}
			}
			if len(tables) != 3 || !maps.Equal(sums(t, selected), tables) {
				t.Errorf("pruning %d, %d shards: selected %v, trained %v", i, shards, sums(t, selected), tables)
			}
			if first == nil {
				first = tables
			}
			if !maps.Equal(first, tables) {
				t.Errorf("pruning %d, %d shards: %v differ", i, shards, differing(first, tables))
			}
			a, b := read(t, pruned).Manifest, read(t, selected).Manifest
			a.Pruning.Vocabulary, a.Pruning.Exclude = b.Pruning.Vocabulary, b.Pruning.Exclude
			if !reflect.DeepEqual(a.Pruning, b.Pruning) || a.Features != read(t, plain).Manifest.Features || a.M() >= a.Features {
				t.Errorf("pruning %d: %+v and %+v", i, a.Pruning, b.Pruning)
			}
			for _, dir := range []string{pruned, selected} {
				if _, err := verify.Run(t.Context(), dir); err != nil {
					t.Errorf("pruning %d: %v", i, err)
				}
			}
		}
	}
}

// Verification repeats the pruning, and notices other rules and another result.
func TestVerifyPruning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sel := choose(t, "", "5", "100%")
	sel.Pruning = rules(t, map[string]string{"min_df": "3", "max_features": "500"}, nil, []string{"upon", "the"})
	if err := trainOn(Runner{}, dir, documents(t, federalist), sel); err != nil {
		t.Fatal(err)
	}
	run := read(t, dir)
	if _, err := verify.Contents(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(m *modelio.Manifest){
		"another limit":       func(m *modelio.Manifest) { m.Options["min_df"] = "2" },
		"a rule without use":  func(m *modelio.Manifest) { m.Options["min_count"] = "1" },
		"no rule":             func(m *modelio.Manifest) { delete(m.Options, "max_features") },
		"no rules":            func(m *modelio.Manifest) { m.Pruning = nil },
		"fewer features":      func(m *modelio.Manifest) { m.Options["max_features"] = "499" },
		"other names":         func(m *modelio.Manifest) { m.Options["exclude"] = strings.Replace(m.Options["exclude"], "2", "3", 1) },
		"malformed names":     func(m *modelio.Manifest) { m.Options["exclude"] = "none" },
		"a result of others":  func(m *modelio.Manifest) { m.Pruning.LeftOut[0].Features++ },
		"other occurrences":   func(m *modelio.Manifest) { m.Pruning.Occurrences++ },
		"more features left":  func(m *modelio.Manifest) { m.Pruning.Features++ },
		"a limit of nobody":   func(m *modelio.Manifest) { *m.Pruning.LeftOut[1].Documents++ },
		"a rule that was not": func(m *modelio.Manifest) { m.Pruning.LeftOut[1].Rule = "max_df" },
	} {
		changed := read(t, dir)
		change(&changed.Manifest)
		if _, err := verify.Contents(t.Context(), changed); err == nil {
			t.Errorf("%s: verified", what)
		}
	}
}

// Data that a pruning does not fit are refused.
func TestPruningGates(t *testing.T) {
	d := documents(t, federalist)
	for what, c := range map[string]struct {
		p    selection.Pruning
		zero bool // smoothing
		want []string
	}{
		"more documents than there are": {rules(t, map[string]string{"min_df": "1000"}, nil, nil), false, []string{"no features are left of 7,952: --min_df=1000 leaves out 7,952 (in fewer than 1,000 documents)"}},
		"two rules":                     {rules(t, map[string]string{"min_df": "5", "max_df": "1%"}, nil, nil), false, []string{"--min_df=5 leaves out 5,", "--max_df=1% leaves out 2,", "(in more than 0.65 documents)"}},
		"other words":                   {rules(t, map[string]string{"min_count": "1"}, []string{"zzz"}, nil), false, []string{"--vocabulary=/", "names.txt leaves out 7,952"}},
		"no counts":                     {rules(t, nil, []string{"zzz", "yyy"}, nil), true, []string{"all counts of the features that are left are zero", "--smoothing above 0"}},
	} {
		sel := choose(t, "", "5")
		if sel.Pruning = c.p; c.zero {
			sel.Smoothing = []float64{0}
		}
		dir := filepath.Join(t.TempDir(), "out")
		err := runTrain(t, dir, d, sel)
		if exitOf(err) != modelio.ExitData {
			t.Errorf("%s: exit %d, %v", what, exitOf(err), err)
		}
		contains(t, err, c.want...)
		checkNothingPublished(t, dir)
	}
}
