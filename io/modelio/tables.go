// Package modelio reads and writes what a run publishes next to its counts: the selected features, the models, the path
// over k and the manifest. It also has the commit protocol ([Claim], [Publish], [Refuse]), which publishes all or nothing.
package modelio

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sparsenb/sparsenb/io/countio"
)

// The files of a run next to the parts of the counts, relative to the output folder. New ones must be added to artefacts.
const (
	FeaturesFile = "features.parquet"
	ModelFile    = "model.parquet"
	PathFile     = "path.parquet"
	BucketsFile  = "buckets.parquet" // only with --hash_bits
	ManifestFile = "manifest.json"
)

// artefacts are the files that a run may write, and remove.
var artefacts = []string{FeaturesFile, ModelFile, PathFile, BucketsFile, PredictionsFile, EvaluationFile, TuningFile, TuningChart, RowsFile, SVMlightFile, ColumnsFile, ClassesFile, ManifestFile}

// sharded are the artefacts that may be folders of files, see ShardName.
var sharded = []string{PredictionsFile, RowsFile, SVMlightFile}

func isArtefact(name string) bool {
	return slices.Contains(artefacts, name) || countio.IsPart(name) || countio.IsIDF(name) ||
		slices.ContainsFunc(sharded, func(table string) bool { return isShard(table, name) })
}

// The marks of the state of a run.
const (
	SuccessFile = "_SUCCESS"

	// StartedFile is the claim of a run that has not ended. VerdictFile is why a run ended without a model. A published run
	// removes both.
	StartedFile = "_STARTED.json"
	VerdictFile = "verdict.json"

	// cancelledPrefix and the run ID are the name of the mark of Cancel.
	cancelledPrefix = "_CANCELLED-"
)

func isMark(name string) bool {
	return name == SuccessFile || name == StartedFile || name == VerdictFile || strings.HasPrefix(name, cancelledPrefix)
}

// Key identifies the model of a row.
type Key struct {
	Problem   string
	Smoothing float64
	K         int64
}

// Compare orders models by problem, smoothing and k.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Problem, o.Problem), cmp.Compare(k.Smoothing, o.Smoothing), cmp.Compare(k.K, o.K))
}

// String names the model in a message.
func (k Key) String() string {
	return fmt.Sprintf("%s, smoothing %v, k = %d", k.Problem, k.Smoothing, k.K)
}

// FeatureRow is a selected feature: a row of features.parquet. Rows are sorted by problem, smoothing, k and rank.
type FeatureRow struct {
	Problem       string  `parquet:"problem,dict"`
	K             int64   `parquet:"k,dict"`
	Rank          int64   `parquet:"rank"` // from 1: by score, then count, both descending, then by the feature's bytes
	Feature       string  `parquet:"feature"`
	FeatureID     int64   `parquet:"feature_id"`
	CountPositive float64 `parquet:"count_positive"` // occurrences, or documents for the Bernoulli model; not smoothed
	CountNegative float64 `parquet:"count_negative"`
	Score         float64 `parquet:"score"` // its share of the gain
	ThetaPositive float64 `parquet:"theta_positive"`
	ThetaNegative float64 `parquet:"theta_negative"`
	Weight        float64 `parquet:"weight"` // added to the log-odds of the positive class
	Smoothing     float64 `parquet:"smoothing,dict"`
	Class         string  `parquet:"class,dict"` // the positive side; a joint model has a row for each class
	Statistic     float64 `parquet:"statistic"`  // the ranking criterion: the score, or the statistic of --method

	// Documents with the feature; null if only its occurrences are known.
	DocumentsPositive *int64 `parquet:"documents_positive,optional"`
	DocumentsNegative *int64 `parquet:"documents_negative,optional"`

	Classifier string `parquet:"classifier,dict"` // that of the model; see Classifiers
}

// Key is that of the model.
func (r FeatureRow) Key() Key { return Key{r.Problem, r.Smoothing, r.K} }

// Strategies: the two sides of a problem.
const (
	Binary        = "binary" // the only two classes
	OneVersusRest = "ovr"    // one class and all others
	OneVersusOne  = "ovo"    // two of several classes
	Joint         = "joint"  // all classes at once
)

// ModelRow is a problem solved for one k: a row of model.parquet, sorted by problem, smoothing and k. A joint model has a
// row for each class, by label, with the intercept of the class and its share of α.
type ModelRow struct {
	Problem        string  `parquet:"problem"`
	Positive       string  `parquet:"positive"`
	Negative       string  `parquet:"negative"` // empty for all other classes
	Model          string  `parquet:"model"`
	KRequested     string  `parquet:"k_requested"` // as requested, such as 1%
	K              int64   `parquet:"k"`
	M              int64   `parquet:"m"`                      // number of features to select from
	DocsPositive   *int64  `parquet:"docs_positive,optional"` // null if only counts are known
	DocsNegative   *int64  `parquet:"docs_negative,optional"`
	Smoothing      float64 `parquet:"smoothing"`
	Intercept      float64 `parquet:"intercept"`
	Base           float64 `parquet:"base"` // log-likelihood without features
	UpperBoundGain float64 `parquet:"upper_bound_gain"`
	Gain           float64 `parquet:"gain"`
	Gap            float64 `parquet:"gap"`
	Certificate    string  `parquet:"certificate"`
	Alpha          float64 `parquet:"alpha"` // where the bound was evaluated
	Odds           float64 `parquet:"odds"`  // α/(1-α), precise where α is near 1
	Evaluations    int64   `parquet:"evaluations"`
	Strategy       string  `parquet:"strategy"`
	Method         string  `parquet:"method"`
	KReason        string  `parquet:"k_reason"` // why this k was chosen, if sparsenb chose it

	// Each of TiedSelected selected features could be exchanged for any of TiedLeftOut others with the same result: their
	// counts or their statistics are equal. The order of the features decided.
	TiedSelected int64 `parquet:"tied_selected"`
	TiedLeftOut  int64 `parquet:"tied_left_out"`

	Classifier string `parquet:"classifier"` // one of Classifiers: how the intercept and the weights were computed
}

// Key is that of the model.
func (r ModelRow) Key() Key { return Key{r.Problem, r.Smoothing, r.K} }

// PathRow is the gain at one k: a row of path.parquet, sorted by problem, smoothing and k.
type PathRow struct {
	Problem        string  `parquet:"problem"`
	K              int64   `parquet:"k"`
	UpperBoundGain float64 `parquet:"upper_bound_gain"`
	Gain           float64 `parquet:"gain"`
	Gap            float64 `parquet:"gap"`
	Certificate    string  `parquet:"certificate"`
	Alpha          float64 `parquet:"alpha"`
	Odds           float64 `parquet:"odds"`
	MarginalGain   float64 `parquet:"marginal_gain"` // of the bound: ψ(k) - ψ(k-1)
	Elbow          float64 `parquet:"elbow"`         // the paper's Δ(k) = ψ(k) - ψ(k-4)
	Smoothing      float64 `parquet:"smoothing"`
}

// Key is that of the model with the same k, if any.
func (r PathRow) Key() Key { return Key{r.Problem, r.Smoothing, r.K} }

// MostNames is the maximum number of names of a bucket.
const MostNames = 10

// BucketRow is a name of a selected bucket: a row of buckets.parquet, sorted by feature_id and rank. It lists the MostNames
// most frequent names.
type BucketRow struct {
	Feature   string  `parquet:"feature"` // the bucket, as in the other files
	FeatureID int64   `parquet:"feature_id"`
	Rank      int64   `parquet:"rank"` // from 1: by count, descending, then by the name's bytes
	Name      string  `parquet:"name"`
	Count     int64   `parquet:"count"` // occurrences in all classes
	Share     float64 `parquet:"share"` // of the bucket's occurrences
	Names     int64   `parquet:"names"` // number of distinct names in the bucket; 1 means no collision
}

// EqualOrNull reports whether two numbers of a column that may be null are equal; null equals null.
func EqualOrNull(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }
