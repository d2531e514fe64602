package main

import (
	"unicode"

	"golang.org/x/text/width"
)

// displayWidth is how many columns of a terminal a text takes.
func displayWidth(text string) (n int) {
	for _, r := range text {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// fill joins parts by spaces, in lines of at most the given number of columns. A longer part has a line of its own.
func fill(parts []string, columns int) (lines []string) {
	at := 0
	for i, part := range parts {
		n := displayWidth(part)
		if i > 0 && at+1+n <= columns {
			lines[len(lines)-1] += " " + part
			at += 1 + n
			continue
		}
		lines, at = append(lines, part), n
	}
	return lines
}
