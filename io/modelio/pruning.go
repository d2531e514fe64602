package modelio

// Pruning says which features a selection left out of its counts, which have all of them.
type Pruning struct {
	Features    int64     `json:"features"`         // that are left: m
	Occurrences float64   `json:"occurrences"`      // of these, in all classes
	Absent      int64     `json:"absent,omitempty"` // of these, names of the vocabulary that are not in the counts
	LeftOut     []LeftOut `json:"left_out"`         // by rule, in the order in which they apply

	// The files of names. Their checksums are in the options of the run.
	Vocabulary string `json:"vocabulary,omitempty"`
	Exclude    string `json:"exclude,omitempty"`
}

// LeftOut are the features that a rule left out, and that no rule before it did.
type LeftOut struct {
	Rule        string   `json:"rule"`                // the name of the flag
	Value       string   `json:"value"`               // as in the options of the run
	Documents   *float64 `json:"documents,omitempty"` // the limit of min_df or max_df
	Features    int64    `json:"features"`
	Occurrences float64  `json:"occurrences"`
}

// M returns m, the number of features to select from.
func (m Manifest) M() int64 {
	if m.Pruning != nil {
		return m.Pruning.Features
	}
	return m.Features
}
