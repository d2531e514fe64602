package corpusio

import "fmt"

// Rejection is a malformed record. Offset is where it starts, in the file or, if that is compressed, in its decompressed
// content; in formats of rows it is a row number, see File.Place.
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
	ManyLabels Reason = "many_labels"
	NoLabel    Reason = "no_label"
	NoText     Reason = "no_text"
	BadWeight  Reason = "bad_weight"
	TooLong    Reason = "too_long"
	BadFeature Reason = "bad_feature"
)

// The reasons of TSV and CSV.
const (
	NoTab         Reason = "no_tab"
	BareReturn    Reason = "bare_return"
	InnerMark     Reason = "inner_mark"
	UnclosedQuote Reason = "unclosed_quote"
	AfterQuote    Reason = "after_quote"
	WrongColumns  Reason = "wrong_columns"
)

// The reasons of JSON Lines.
const (
	BadLabel  Reason = "bad_label"
	BadText   Reason = "bad_text"
	BadID     Reason = "bad_id"
	NotJSON   Reason = "not_json"
	NotObject Reason = "not_object"
	AfterJSON Reason = "after_json"
)

// The reasons of text files and web archives.
const (
	LongFile Reason = "long_file"
	BadWARC  Reason = "bad_warc"
	BadHTTP  Reason = "bad_http"
)

var sentences = map[Reason]string{
	EmptyLabel: "the label is empty",
	NulLabel:   "the label contains NUL bytes; the text is probably UTF-16 or UTF-32",
	LongLabel:  fmt.Sprintf("the label is longer than %d bytes", MaxLabelBytes),
	ManyLabels: fmt.Sprintf("the record has more than %d labels", maxLabels),
	NoLabel:    "the record has no label",
	NoText:     "the record has no text",
	BadWeight:  fmt.Sprintf("the weight is missing, or is not a whole number from 0 to %d", MaxWeight),
	BadFeature: "a feature is not index:value",
	TooLong:    "the record is longer than --max_record_bytes",

	NoTab:         "the line has no tab between label and text",
	BareReturn:    "the line contains a carriage return and then another record; probably some lines end in CR alone",
	InnerMark:     "the line contains a byte-order mark and then another record; probably files were joined without a newline between them",
	UnclosedQuote: "a quoted field has no closing quote within --max_record_bytes",
	AfterQuote:    "a closing quote is followed by other characters; a quote within a quoted field must be doubled",
	WrongColumns:  "the row has fewer or more columns than the first row",

	BadLabel:  "the label is a JSON object, or a list that contains objects or lists; it must be a string, a number, true, false, or a list of these",
	BadText:   "the text is a JSON object, or a list that contains objects or lists; it must be a string, or a list of strings",
	BadID:     "the value of --id_column or --group_column is a JSON object or a list; it must be a string, a number, true or false",
	NotJSON:   "the line is not valid JSON, or nested more than 10,000 levels deep",
	NotObject: "the line is valid JSON, but not an object in braces",
	AfterJSON: "more text follows the JSON object on its line",

	BadWARC:  "the WARC record has no valid header",
	BadHTTP:  "the HTTP response of the WARC record has no valid header, or its body is not in the encoding that the header says",
	LongFile: "the file is longer than --max_record_bytes; if each line is a document, use --format=text",
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
