package modelio

// Analyzer defines the features of a text. It is in the manifest and, as JSON under [AnalyzerKey], in the metadata of
// model.parquet, so a model can be applied to other documents without other files.
type Analyzer struct {
	Unit           string   `json:"unit"`                       // the units of n-grams: word, char, char_wb, unicode, whitespace or regex
	Ngrams         [2]int   `json:"ngrams"`                     // the minimum and maximum number of units in a feature
	Normalize      string   `json:"normalize,omitempty"`        // nfc or nfkc: the text is normalized, before lowercase
	Lowercase      string   `json:"lowercase"`                  // the rule for lowercase
	StripAccents   string   `json:"strip_accents,omitempty"`    // the rule for accents, which are stripped after lowercase
	TokenPattern   string   `json:"token_pattern,omitempty"`    // of tokens, as in CountVectorizer; empty for unicode
	MinTokenLength int      `json:"min_token_length,omitempty"` // in characters; shorter tokens are removed before stop words
	StopWords      []string `json:"stop_words,omitempty"`       // sorted; removed before n-grams are built
	HashBits       int      `json:"hash_bits,omitempty"`        // features are counted in 2^HashBits buckets of feature_id
	Weights        *Weights `json:"weights,omitempty"`          // nil: a document adds its occurrences
}

// AnalyzerKey is the metadata key of the analyzer in model.parquet.
const AnalyzerKey = "sparsenb.analyzer"

// The rules for lowercase: the full Unicode mapping with final sigma, as in Python's str.lower; or the text is kept as it is.
const (
	FullLowercase = "unicode"
	KeepCase      = "none"
)

// StripUnicode is the rule for accents: compatibility decomposition (NFKD) without combining characters, as strip_accents of
// CountVectorizer has it.
const StripUnicode = "unicode"
