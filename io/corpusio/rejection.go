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
	BadWARC    Reason = "bad_warc"
	BadHTTP    Reason = "bad_http"
)

// Sentence explains the reason to a user.
func (r Reason) Sentence() string {
	switch r {
	case NoTab:
		return "the line has no tab between label and text"
	case EmptyLabel:
		return "the label is empty"
	case TooLong:
		return "the line or record is longer than --max_record_bytes"
	case NulLabel:
		return "the label contains NUL bytes; the text is probably UTF-16 or UTF-32"
	case BareReturn:
		return "the line contains a carriage return and then another tab; probably some lines end in CR alone"
	case LongLabel:
		return fmt.Sprintf("the label is longer than %d bytes", MaxLabelBytes)
	case InnerMark:
		return "the line contains a byte-order mark and then another tab; probably files were joined without a newline between them"
	case BadWARC:
		return "the WARC record has no valid header"
	case BadHTTP:
		return "the HTTP response of the WARC record has no valid header, or its body is not in the encoding that the header says"
	}
	return string(r)
}
