package corpusio

import "fmt"

// Rejection is a malformed record. Offset is where it starts, in the file or, if that is compressed, in its decompressed
// content.
type Rejection struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Reason Reason `json:"reason"`
}

// Reason is why a record is malformed.
type Reason string

// The reasons of all formats. Sentence explains each.
const (
	EmptyLabel Reason = "empty_label"
	NulLabel   Reason = "nul_label"
	LongLabel  Reason = "long_label"
	TooLong    Reason = "too_long"
)

// The reasons of TSV.
const (
	NoTab      Reason = "no_tab"
	BareReturn Reason = "bare_return"
	InnerMark  Reason = "inner_mark"
)

var sentences = map[Reason]string{
	EmptyLabel: "the label is empty",
	NulLabel:   "the label contains NUL bytes; the text is probably UTF-16 or UTF-32",
	LongLabel:  fmt.Sprintf("the label is longer than %d bytes", MaxLabelBytes),
	TooLong:    "the record is longer than --max_record_bytes",

	NoTab:      "the line has no tab between label and text",
	BareReturn: "the line contains a carriage return and then another tab; probably some lines end in CR alone",
	InnerMark:  "the line contains a byte-order mark and then another tab; probably files were joined without a newline between them",
}

// Sentence explains the reason to a user.
func (r Reason) Sentence() string {
	if s, ok := sentences[r]; ok {
		return s
	}
	return string(r) // of a newer version
}

// reject reports a malformed record, whose bytes may be nil.
func (o Options) reject(file string, offset int64, reason Reason, record []byte) {
	o.Reject(Rejection{file, offset, reason})
	if o.Sample != nil {
		o.Sample(record)
	}
}
