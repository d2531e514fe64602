package main

import (
	"flag"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// weightFlags define what a document adds to the count of a feature; train and count have them.
type weightFlags struct {
	weights, unit, norm  *string
	sublinear, smoothIDF *bool
}

func addWeightFlags(fs *flag.FlagSet) weightFlags {
	return weightFlags{
		weights:   fs.String("weights", "count", "=NAME what a document adds to the count of a feature that occurs in it tf times: count (tf), binary (1; for train and select), log (1 + ln tf), or tfidf, as in scikit-learn's TfidfVectorizer, for which the text is read twice"),
		unit:      fs.String("value_unit", "", "=U power of two, such as 0.5 or 2^-10, to whose multiples the values of log, tfidf and matrices are rounded (default 2^-20)"),
		norm:      fs.String("norm", "", "=NAME norm by which --weights=tfidf divides the values of a document: l2, l1 or none (default l2)"),
		sublinear: fs.Bool("sublinear_tf", false, " use 1 + ln tf in place of tf, with --weights=tfidf"),
		smoothIDF: fs.Bool("smooth_idf", true, " add 1 to the document frequencies, as if a document had every feature, with --weights=tfidf"),
	}
}

func (f weightFlags) parse() (w kernel.Weights, err error) {
	if w, err = pipeline.ParseWeights(*f.weights, *f.unit, *f.norm, *f.sublinear, *f.smoothIDF); err != nil {
		return w, modelio.Usagef("%w", err)
	}
	return w, nil
}
