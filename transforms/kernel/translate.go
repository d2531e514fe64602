package kernel

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"
)

// Python's classes of characters, as the inside of a class of RE2. They start and end with a \p, so that a range with one
// of them as an end is an error, as in Python.
const (
	wordClass  = `\p{L}_\p{N}`
	digitClass = `\p{Nd}`
	spaceClass = `\pZ\t-\r\x1c-\x1f\x{85}\pZ`
)

var (
	notWordClass  = sync.OnceValue(func() string { return `\pZ` + complement(isWordRune) + `\pZ` })
	notSpaceClass = sync.OnceValue(func() string { return `\pL` + complement(isSpace) + `\pL` })
)

// isSpace is Python's str.isspace.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// complement returns the code points of which a function is false, as ranges. RE2 has no name for them within a class.
func complement(in func(rune) bool) string {
	var b strings.Builder
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if in(r) {
			continue
		}
		low := r
		for r < unicode.MaxRune && !in(r+1) {
			r++
		}
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, low, r)
	}
	return b.String()
}

// translate rewrites a regular expression of Python in the syntax of RE2 where the same text has another meaning there.
func translate(pattern string) (string, error) {
	rest := strings.TrimPrefix(pattern, "(?u)")
	var b strings.Builder
	inClass := false
	for rest != "" {
		n := 1
		switch c := rest[0]; {
		case c == '\\' && len(rest) > 1:
			text, size, err := translateEscape(rest, inClass)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			rest = rest[size:]
			continue
		case inClass && c == ']':
			inClass = false
		case inClass && strings.HasPrefix(rest, "[:") && strings.Contains(rest, ":]"):
			return "", errors.New("classes such as [:alpha:] have another meaning in Python; write \\p{L}, for example")
		case !inClass && c == '[':
			inClass = true
			if strings.HasPrefix(rest[n:], "^") {
				n++
			}
			if strings.HasPrefix(rest[n:], "]") { // at the start it is a character
				n++
			}
		case !inClass && strings.HasPrefix(rest, "{,"):
			b.WriteString("{0")
			rest = rest[1:]
			continue
		}
		b.WriteString(rest[:n])
		rest = rest[n:]
	}
	return b.String(), nil
}

// translateEscape translates the backslash at the start of a text, and what belongs to it.
func translateEscape(text string, inClass bool) (translated string, size int, err error) {
	switch text[1] {
	case 'w':
		return classOf(wordClass, inClass), 2, nil
	case 'd':
		return classOf(digitClass, inClass), 2, nil
	case 's':
		return classOf(spaceClass, inClass), 2, nil
	case 'W':
		if inClass {
			return notWordClass(), 2, nil
		}
		return classOf("^"+wordClass, false), 2, nil
	case 'D':
		return classOf(`\P{Nd}`, inClass), 2, nil
	case 'S':
		if inClass {
			return notSpaceClass(), 2, nil
		}
		return classOf("^"+spaceClass, false), 2, nil
	case 'b':
		if inClass {
			return `\x08`, 2, nil
		}
	case 'Z':
		return `\z`, 2, nil
	case 'u':
		return hexEscape(text, 6)
	case 'U':
		return hexEscape(text, 10)
	case 'Q':
		return "", 0, errors.New(`\Q is not supported`)
	}
	return text[:2], 2, nil
}

// classOf returns the inside of a class as an expression, or as it is if it stands in a class.
func classOf(inside string, inClass bool) string {
	if inClass {
		return inside
	}
	return "(?-i:[" + inside + "])" // (?i) would add U+0345 to the letters
}

// hexEscape translates \uXXXX and \UXXXXXXXX, which have n characters.
func hexEscape(text string, n int) (string, int, error) {
	if len(text) < n || strings.Trim(text[2:n], "0123456789abcdefABCDEF") != "" {
		return "", 0, fmt.Errorf("%.2s needs %d hexadecimal digits", text, n-2)
	}
	return `\x{` + text[2:n] + `}`, n, nil
}
