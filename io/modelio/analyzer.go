package modelio

// Analyzer defines the features of a text. It is in the manifest and, as JSON under [AnalyzerKey], in the metadata of
// model.parquet, so a model can be applied to other documents without other files.
type Analyzer struct {
	Unit         string   `json:"unit"`                    // the units of n-grams: word, char or char_wb
	Ngrams       [2]int   `json:"ngrams"`                  // the minimum and maximum number of units in a feature
	Lowercase    string   `json:"lowercase"`               // the rule for lowercase
	TokenPattern string   `json:"token_pattern,omitempty"` // of words
	StopWords    []string `json:"stop_words,omitempty"`    // lowercase, sorted; removed before n-grams are built
	HashBits     int      `json:"hash_bits,omitempty"`     // features are counted in 2^HashBits buckets of feature_id
	Weights      *Weights `json:"weights,omitempty"`       // nil: a document adds its occurrences
}

// AnalyzerKey is the metadata key of the analyzer in model.parquet.
const AnalyzerKey = "sparsenb.analyzer"

// FullLowercase is the rule of all analyzers so far: the full Unicode mapping with final sigma, as in Python's str.lower.
const FullLowercase = "unicode"
