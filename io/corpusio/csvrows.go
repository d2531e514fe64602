package corpusio

import "bytes"

// csvRows are the rows of CSV that start in a range of a file. The rules are those of RFC 4180. In addition, a quote within an
// unquoted field is literal, and the last row may lack a line end.
//
// A malformed row must not take the rest of the file with it. Reading goes on at the line after the one in which the malformed
// field starts. For most that is the second line of the row. Only an odd number of quotes in succession opens or closes a
// field, and between the opening quote of a malformed field and the place where it fails there is no such number. So nothing
// that is read again there opens another field that fails: no byte is parsed more than twice, whatever is in the file.
type csvRows struct {
	*lines
	delimiter byte
	keep      int  // how many fields of a row are kept
	inLine    bool // a row is a line: quotes that are not closed in the line, or within a field, are literal

	row    []byte // the row without its line end, valid until the next call of next
	fields []csvField
	count  int // the number of fields of the row; 0 if the line is empty

	eol   int  // where the line ends that is being parsed, from the start of the row; less than the field's start if unknown
	atEnd bool // the row has reached the end of what can be read
}

// csvField is row[start:end], without the quotes around it.
type csvField struct {
	start, end int
	escaped    bool // it contains doubled quotes
}

// next reads a row. The reason is empty if the row is well-formed. It returns false at the end of the range and after an error.
func (r *csvRows) next() (offset int64, reason Reason, ok bool) {
	offset = r.position
	if r.limit >= 0 && offset >= r.limit || r.byteAt(0) < 0 {
		return offset, "", false
	}
	r.fields, r.count, r.eol, r.atEnd = r.fields[:0], 0, -1, false
	for r.byteAt(0) == int(mark[0]) && r.byteAt(1) == int(mark[1]) && r.byteAt(2) == int(mark[2]) {
		r.advance(len(mark)) // also in the middle: joined files
	}
	for start := 0; ; {
		field, stop, reason := r.field(start)
		if r.atEnd && r.err != nil {
			return offset, "", false
		}
		if reason != "" {
			r.advance(start)
			r.skip()
			return offset, reason, true
		}
		if r.count++; len(r.fields) < r.keep {
			r.fields = append(r.fields, field)
		}
		if r.byteAt(stop) == int(r.delimiter) {
			start = stop + 1
			continue
		}
		reason = r.finish(stop)
		return offset, reason, !r.atEnd || r.err == nil
	}
}

// finish ends the row, whose last field stops at the line end.
func (r *csvRows) finish(stop int) Reason {
	after := stop
	if r.byteAt(after) == '\r' {
		after++
	}
	if r.byteAt(after) == '\n' {
		after++
	}
	if stop == 0 {
		r.count = 0
	}
	r.row = r.buffer[r.at : r.at+stop]
	r.advance(after)
	if stop > r.maxBytes {
		return TooLong
	}
	return ""
}

// field parses the field that starts in the row, and returns where the delimiter or the line end after it is.
func (r *csvRows) field(start int) (f csvField, stop int, reason Reason) {
	quoted := r.byteAt(start) == '"'
	if quoted && !r.inLine {
		f, reason = r.quotedField(start, r.maxBytes+2)
		return f, f.end + 1, reason
	}
	if r.eol < start {
		if r.eol = r.find('\n', start, r.maxBytes+2); r.eol < 0 {
			if r.eol = r.end - r.at; r.eol >= r.maxBytes+2 {
				return f, 0, TooLong
			}
		}
	}
	if quoted {
		if f, reason = r.quotedField(start, r.eol); reason == "" {
			return f, f.end + 1, ""
		}
	}
	rest := bytes.TrimSuffix(r.buffer[r.at+start:r.at+r.eol], []byte{'\r'})
	if i := bytes.IndexByte(rest, r.delimiter); i >= 0 {
		rest = rest[:i]
	}
	stop = start + len(rest)
	return csvField{start, stop, false}, stop, ""
}

// quotedField parses a field in quotes that ends before a place in the row.
func (r *csvRows) quotedField(start, limit int) (f csvField, reason Reason) {
	f.start = start + 1
	for f.end = f.start; ; f.end += 2 {
		if f.end = r.find('"', f.end, limit); f.end < 0 {
			return f, UnclosedQuote
		}
		if r.byteAt(f.end+1) != '"' {
			break
		}
		f.escaped = true
	}
	switch c := r.byteAt(f.end + 1); {
	case c == int(r.delimiter), c == '\n', c < 0:
		return f, ""
	case c == '\r':
		if c = r.byteAt(f.end + 2); c == '\n' || c < 0 {
			return f, ""
		}
	}
	return f, AfterQuote
}

// find returns where a byte is in the row, from a place on and before a limit, or -1.
func (r *csvRows) find(c byte, from, limit int) int {
	for {
		b := r.buffer[r.at:min(r.end, r.at+limit)]
		from = min(from, len(b))
		if i := bytes.IndexByte(b[from:], c); i >= 0 {
			return from + i
		}
		if len(b) == limit {
			return -1
		}
		if r.ended {
			r.atEnd = true
			return -1
		}
		from = len(b)
		r.fill()
	}
}

// byteAt returns a byte of the row, or -1 at the end of the content.
func (r *csvRows) byteAt(i int) int {
	for r.at+i >= r.end {
		if r.ended {
			r.atEnd = true
			return -1
		}
		r.fill()
	}
	return int(r.buffer[r.at+i])
}

// value returns a field of the row. It replaces doubled quotes in place.
func (r *csvRows) value(i int) []byte {
	f := &r.fields[i]
	if f.escaped {
		b := r.row[f.start:f.end]
		out := b[:0]
		for quote := bytes.IndexByte(b, '"'); quote >= 0; quote = bytes.IndexByte(b, '"') {
			out = append(out, b[:quote+1]...)
			b = b[quote+2:]
		}
		out = append(out, b...)
		f.end, f.escaped = f.start+len(out), false
	}
	return r.row[f.start:f.end]
}

// skipTo reads rows up to the first that starts at a position or after it. It returns false at the end of the range and after
// an error. Up to the next quote rows are lines, which need not be parsed.
func (r *csvRows) skipTo(position int64) bool {
	for r.position < position {
		b := r.buffer[r.at:r.end]
		b = b[:min(int64(len(b)), position-r.position)]
		if quote := bytes.IndexByte(b, '"'); quote >= 0 {
			b = b[:quote]
		}
		r.advance(bytes.LastIndexByte(b, '\n') + 1)
		if r.position == position {
			break
		}
		if _, _, ok := r.next(); !ok {
			return false
		}
	}
	return r.position < r.limit
}
