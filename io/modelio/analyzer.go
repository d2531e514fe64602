package modelio

// Analyzer says in full what the features of a text are. It stands in the manifest, and as JSON under [AnalyzerKey] in the
// metadata of model.parquet, so that a model can be applied to other documents from its own files.
type Analyzer struct {
	Unit         string   `json:"unit"`                    // what n-grams are made of: word, char or char_wb
	Ngrams       [2]int   `json:"ngrams"`                  // the fewest and the most units of a feature
	Lowercase    string   `json:"lowercase"`               // by which rule the text is put in lower case
	TokenPattern string   `json:"token_pattern,omitempty"` // of words
	StopWords    []string `json:"stop_words,omitempty"`    // in lower case, sorted; taken out before n-grams are made
	HashBits     int      `json:"hash_bits,omitempty"`     // features are counted in 2^HashBits buckets of feature_id
}

// AnalyzerKey is where the metadata of model.parquet has the analyzer.
const AnalyzerKey = "sparsenb.analyzer"

// FullLowercase is the rule of all analyzers so far: Unicode's full mapping, with the final sigma, as Python's str.lower.
const FullLowercase = "unicode"
