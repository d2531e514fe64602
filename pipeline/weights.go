package pipeline

import (
	"fmt"
	"slices"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/selection"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// matrix reports whether the documents are rows of matrices. If some are and some are not, it returns a file of each kind.
func (d Documents) matrix() (matrix bool, text, other string) {
	files, _ := d.splitEmpty()
	for _, f := range files {
		if f.IsMatrix() {
			matrix, other = true, f.Name
		} else {
			text = f.Name
		}
	}
	return matrix, text, other
}

// weights returns the weights with the default of matrices.
func (d Documents) weights() kernel.Weights {
	if matrix, _, _ := d.matrix(); matrix && d.Weights.Scheme == kernel.Occurrences {
		return kernel.Weights{Scheme: kernel.Values, Exponent: kernel.DefaultExponent}
	}
	return d.Weights
}

// firstWeights are the weights of the first of two readings, which counts the documents of each feature.
func (d Documents) firstWeights() kernel.Weights {
	if matrix, _, _ := d.matrix(); matrix {
		return kernel.Weights{Scheme: kernel.Binary}
	}
	return kernel.Weights{}
}

// ValidateFiles returns an error if the documents cannot be counted together, or not in this way. It has modelio.ExitUsage.
func (d Documents) ValidateFiles() error {
	matrix, text, other := d.matrix()
	files, _ := d.splitEmpty()
	without := slices.IndexFunc(files, func(f corpusio.File) bool { return !f.HasColumns() })
	switch {
	case d.Reading.WeightColumn != "" && without >= 0:
		return modelio.Usagef("--weight_column=%s: %s has no columns of weights; they can be in CSV, JSON Lines and Parquet", d.Reading.WeightColumn, files[without].Name)
	case matrix && text != "":
		return modelio.Usagef("%s is a matrix, and %s is text; count them in two runs", other, text)
	case d.Reading.WeightColumn != "" && d.weights().Real():
		return modelio.Usagef("--weight_column=%s: documents with weights can be counted with --weights=count and binary only, and not in matrices", d.Reading.WeightColumn)
	case d.Reading.FeatureNames != "" && d.mixedBases():
		return modelio.Usagef("--feature_names: in some of the files indexes start from 0, in others probably from 1; write all with the same base, such as by dump_svmlight_file(…, zero_based=False)")
	case matrix && d.HashBits > 0:
		return modelio.Usagef("--hash_bits=%d: %s is a matrix, whose features are counted by name", d.HashBits, other)
	}
	return nil
}

// mixedBases reports whether some files of SVMlight have an index 0 and others do not.
func (d Documents) mixedBases() bool {
	return slices.ContainsFunc(d.Files, func(f corpusio.File) bool { return f.Format == "svmlight" && f.Layout != d.Files[0].Layout })
}

// validateWeights returns an error that names the flag.
func (d Documents) validateWeights() error {
	w := d.Weights
	switch {
	case w.Real() && (w.Exponent < kernel.MinExponent || w.Exponent > kernel.MaxExponent):
		return modelio.Usagef("--value_unit=%s: must be 2^%d to 2^%d", modelio.FormatUnit(w.Exponent), kernel.MinExponent, kernel.MaxExponent)
	case w.Real() && d.HashBits > 0:
		return modelio.Usagef("--hash_bits=%d: counts occurrences, and cannot be used with --weights=%s", d.HashBits, w.Scheme)
	}
	if err := w.Validate(); err != nil {
		return modelio.Usagef("--weights: %w", err)
	}
	return nil
}

// selectedBy returns the analyzer of a model: that of the counts, with the weights of the selection.
func selectedBy(sel selection.Params, a *modelio.Analyzer) *modelio.Analyzer {
	if a == nil || sel.Weights != modelio.BinaryWeights {
		return a
	}
	binary := *a
	binary.Weights = &modelio.Weights{Name: modelio.BinaryWeights}
	return &binary
}

// ParseWeights reads the values of the flags --weights, --value_unit, --norm, --sublinear_tf and --smooth_idf; empty ones were
// not given. binary is a property of the selection, and counts occurrences.
func ParseWeights(name, unit, norm string, sublinear, smoothIDF bool) (w kernel.Weights, err error) {
	switch {
	case !slices.Contains(modelio.WeightNames, name):
		return w, fmt.Errorf("--weights=%s: must be count, binary, log or tfidf", name)
	case name != string(kernel.TFIDF) && (sublinear || !smoothIDF || norm != ""):
		return w, fmt.Errorf("--norm, --sublinear_tf and --smooth_idf are for --weights=tfidf, and cannot be used with --weights=%s", name)
	case name == modelio.BinaryWeights && unit != "":
		return w, fmt.Errorf("--value_unit=%s: cannot be used with --weights=binary, which counts documents", unit)
	case name == modelio.BinaryWeights, name == string(kernel.Values) && unit == "":
		return w, nil
	}
	w = kernel.Weights{Scheme: kernel.Scheme(name), Exponent: kernel.DefaultExponent, Sublinear: sublinear, PlainIDF: !smoothIDF}
	if unit != "" {
		if w.Exponent, err = modelio.ParseUnit(unit); err != nil {
			return w, fmt.Errorf("--value_unit=%w", err)
		}
	}
	if w.Scheme != kernel.TFIDF {
		return w, nil
	}
	if w.Norm = kernel.Norm(norm); norm == "" {
		w.Norm = kernel.L2
	}
	if w.Norm != kernel.L2 && w.Norm != kernel.L1 && w.Norm != kernel.NoNorm {
		return w, fmt.Errorf("--norm=%s: must be l2, l1 or none", norm)
	}
	return w, nil
}
