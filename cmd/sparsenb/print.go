package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stdout is where results are written.
var stdout = &results{w: os.Stdout}

// results is a writer that keeps its first error, so that code which prints need not check every line.
type results struct {
	w      io.Writer
	failed error
}

func (r *results) Write(b []byte) (int, error) {
	if r.failed != nil {
		return 0, r.failed
	}
	n, err := r.w.Write(b)
	if err != nil {
		cause := err
		var path *fs.PathError
		if errors.As(err, &path) {
			cause = path.Err
		}
		r.failed = fmt.Errorf("writing to standard output: %w", cause)
	}
	return n, err
}

// printf prints to standard output and standard error. Labels, words, file names and options come from others, so that
// every argument but numbers is escaped.
func printf(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		switch v := reflect.ValueOf(arg); {
		case v.Kind() == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat():
		default:
			args[i] = printable(fmt.Sprint(arg))
		}
	}
	fmt.Fprintf(w, format, args...)
}

// printable escapes control characters and invalid UTF-8. Escaped text stays as it is.
func printable(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case unprintable(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		text = text[n:]
	}
	return b.String()
}

// unprintable reports whether r is a control character, a line or paragraph separator, or changes the direction of the
// text after it. Marks and joiners are part of words.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}
