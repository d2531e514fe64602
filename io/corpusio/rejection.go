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

	UnclosedQuote Reason = "unclosed_quote"
	AfterQuote    Reason = "after_quote"
	WrongColumns  Reason = "wrong_columns"
	BadWeight     Reason = "bad_weight"
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
		return "the line contains a carriage return and then another tab; probably some lines end in CR alone"
	case LongLabel:
		return fmt.Sprintf("the label is longer than %d bytes", MaxLabelBytes)
	case InnerMark:
		return "the line contains a byte-order mark and then another tab; probably files were joined without a newline between them"
	case UnclosedQuote:
		return "a quoted field has no closing quote within --max_record_bytes"
	case AfterQuote:
		return "a closing quote is followed by other characters; a quote within a quoted field must be doubled"
	case WrongColumns:
		return "the row has fewer or more columns than the first row"
	case BadWeight:
		return "the weight is missing, or is not a number of at least 0"
	}
	return string(r)
}
