package selection

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/solver"
)

// Options returns the parameters as the options of a run: the values of the flags of these names.
func (p Params) Options() map[string]string {
	var ks, smoothing []string
	for _, k := range p.K {
		ks = append(ks, k.Text)
	}
	for _, a := range p.Smoothing {
		smoothing = append(smoothing, strconv.FormatFloat(a, 'g', -1, 64))
	}
	options := map[string]string{
		"k": strings.Join(ks, ","), "model": p.Model.String(), "method": p.Method.String(), "strategy": string(p.Strategy),
		"smoothing": strings.Join(smoothing, ","),
	}
	if p.Positive != "" {
		options["positive"] = p.Positive
	}
	maps.Copy(options, p.Pruning.options())
	if p.Weights == modelio.BinaryWeights { // others are a property of the counts
		options["weights"] = p.Weights
	}
	if c := p.classifier(); c != modelio.DefaultClassifier(p.Model.String()) {
		options["classifier"] = c
	}
	if Fitted(p.Classifier) {
		options["c"] = strconv.FormatFloat(p.C, 'g', -1, 64)
	}
	return options
}

// ParseParams is the inverse of [Params.Options]. It ignores other options. Smoothings are sorted, and each is kept once.
func ParseParams(options map[string]string) (p Params, err error) {
	for _, text := range strings.Split(options["k"], ",") {
		k, err := ParseK(text)
		if err != nil {
			return p, fmt.Errorf("--k: %w", err)
		}
		p.K = append(p.K, k)
	}
	if p.Model, err = solver.ParseModel(options["model"]); err != nil {
		return p, fmt.Errorf("--model: %w", err)
	}
	if p.Method, err = solver.ParseMethod(options["method"]); err != nil {
		return p, fmt.Errorf("--method: %w", err)
	}
	if p.Strategy, err = ParseStrategy(options["strategy"]); err != nil {
		return p, fmt.Errorf("--strategy: %w", err)
	}
	for _, text := range strings.Split(options["smoothing"], ",") {
		a, err := strconv.ParseFloat(text, 64)
		if err != nil || !solver.InRange(a) {
			return p, fmt.Errorf("--smoothing=%s: must be 0 or a number from %g to %g", text, solver.Least, solver.Most)
		}
		p.Smoothing = append(p.Smoothing, a)
	}
	slices.Sort(p.Smoothing)
	p.Smoothing, p.Positive, p.Weights = slices.Compact(p.Smoothing), options["positive"], options["weights"]
	if p.Classifier = options["classifier"]; p.Classifier == modelio.DefaultClassifier(p.Model.String()) {
		p.Classifier = ""
	}
	if Fitted(p.Classifier) {
		p.C = 1
	}
	if text := options["c"]; text != "" {
		if p.C, err = strconv.ParseFloat(text, 64); err != nil {
			return p, fmt.Errorf("--c=%s: must be a number", text)
		}
	}
	p.Pruning, err = ParsePruning(options)
	return p, err
}

// Options returns what the options of a selection say about its counts: the analysis of a run, or the numbers of documents of
// a custom table.
func (c Counts) Options() map[string]string {
	options := c.Analysis.Options()
	var documents []string
	for _, class := range c.Classes {
		if c.Source.Table != "" && class.Documents != nil {
			documents = append(documents, fmt.Sprintf("%s=%d", class.Label, *class.Documents))
		}
	}
	if len(documents) > 0 {
		options["class_documents"] = strings.Join(documents, ",")
	}
	return options
}
