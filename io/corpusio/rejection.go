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

// The reasons. Sentence explains each.
const (
	NoTab      Reason = "no_tab"
	EmptyLabel Reason = "empty_label"
	TooLong    Reason = "too_long"
	NulLabel   Reason = "nul_label"
	BareReturn Reason = "bare_return"
	LongLabel  Reason = "long_label"
	InnerMark  Reason = "inner_mark"
	NoLabel    Reason = "no_label"
	NoText     Reason = "no_text"
	ManyLabels Reason = "many_labels"
	BadLabel   Reason = "bad_label"
	BadText    Reason = "bad_text"
	BadWeight  Reason = "bad_weight"
	NotJSON    Reason = "not_json"
	NotObject  Reason = "not_object"
	AfterJSON  Reason = "after_json"
	LongFile   Reason = "long_file"
)

// Sentence explains the reason to a user.
func (r Reason) Sentence() string {
	switch r {
	case NoTab:
		return "the line has no tab between label and text"
	case EmptyLabel:
		return "the label is empty"
	case TooLong:
		return "the line is longer than --max_record_bytes"
	case NulLabel:
		return "the label contains NUL bytes; the text is probably UTF-16 or UTF-32"
	case BareReturn:
		return "the line contains a carriage return and then another record; probably some lines end in CR alone"
	case LongLabel:
		return fmt.Sprintf("the label is longer than %d bytes", MaxLabelBytes)
	case InnerMark:
		return "the line contains a byte-order mark and then another record; probably files were joined without a newline between them"
	case NoLabel:
		return "the record has no label"
	case NoText:
		return "the record has no text"
	case ManyLabels:
		return fmt.Sprintf("the record has more than %d labels", maxLabels)
	case BadLabel:
		return "the label is a JSON object, or a list that contains objects or lists; it must be a string, a number, true, false, or a list of these"
	case BadText:
		return "the text is a JSON object, or a list that contains objects or lists; it must be a string, or a list of strings"
	case BadWeight:
		return "the weight is missing, or is not a number of at least 0"
	case NotJSON:
		return "the line is not valid JSON, or nested more than 10,000 levels deep"
	case NotObject:
		return "the line is valid JSON, but not an object in braces"
	case AfterJSON:
		return "more text follows the JSON object on its line"
	case LongFile:
		return "the file is longer than --max_record_bytes; if each line is a document, use --format=text"
	}
	return string(r)
}
