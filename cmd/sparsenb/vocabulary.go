package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// isOwn reports whether the counts are a table of the user's own.
func isOwn(m modelio.Manifest) bool { return m.Counts != nil && m.Counts.Size > 0 }

// noun is what the features are.
func noun(m modelio.Manifest) string {
	switch {
	case isOwn(m):
		return "feature"
	case hashBits(m.Options) > 0:
		return "bucket"
	}
	return token(m.Options)
}

// token is what the text was cut into.
func token(options map[string]string) string {
	if a := (modelio.Run{Options: options}).Analysis(); a.Unit != "word" && a.Unit != "" || a.Ngrams[1] > 1 {
		return "n-gram"
	}
	return "word"
}

func ofCharacters(options map[string]string) bool {
	return strings.HasPrefix(modelio.Run{Options: options}.Analysis().Unit, "char")
}

// analyzerInWords says what the features of a run are made of.
func analyzerInWords(a modelio.Analyzer) string {
	text := a.Unit
	if a.TokenPattern != "" {
		text += " " + a.TokenPattern
	}
	text += ", in lower case"
	if a.Ngrams != [2]int{1, 1} {
		text += fmt.Sprintf(", n-grams of %d to %d", a.Ngrams[0], a.Ngrams[1])
	}
	if a.HashBits > 0 {
		text += fmt.Sprintf(", in 2^%d buckets", a.HashBits)
	}
	if n := len(a.StopWords); n > 0 {
		const shown = 5
		text += fmt.Sprintf(", without %s: %s", plural(int64(n), "stop word"), strings.Join(a.StopWords[:min(n, shown)], ", "))
		if n > shown {
			text += fmt.Sprintf(" and %d more", n-shown)
		}
	}
	return printable(text)
}

// hashBits says that there are 2ⁿ buckets, or with 0 that there are none.
func hashBits(options map[string]string) int {
	return modelio.Run{Options: options}.Analysis().HashBits
}

// vocabulary is how the features of a run are shown.
type vocabulary struct {
	noun  string
	names map[string][]modelio.BucketRow // of a bucket; nil if there are no buckets, or only their numbers are known
}

func vocabularyOf(p modelio.Published) vocabulary {
	v := vocabulary{noun: noun(p.Manifest)}
	for _, row := range p.Buckets {
		if v.names == nil {
			v.names = map[string][]modelio.BucketRow{}
		}
		v.names[row.Feature] = append(v.names[row.Feature], row)
	}
	return v
}

// addNames adds a column with the names of the buckets to a table of features.
func (v vocabulary) addNames(table [][]string) {
	for i, row := range table {
		if i == 0 {
			table[i] = append(row, "names")
		} else {
			table[i] = append(row, namesOf(v.names[row[1]]))
		}
	}
}

// shown marks the ends of a feature that begins or ends with white space, as n-grams of characters do.
func shown(feature string) string {
	if strings.TrimSpace(feature) == feature {
		return feature
	}
	return `"` + feature + `"`
}

// named is a feature with the name that is most of its bucket.
func (v vocabulary) named(feature string) string {
	if rows := v.names[feature]; len(rows) > 0 {
		return feature + " (" + shown(rows[0].Name) + ")"
	}
	return shown(feature)
}

// namesOf lists as many names of a bucket, the most frequent first, as a column has room for.
func namesOf(rows []modelio.BucketRow) string {
	list := ""
	for i, row := range rows {
		next := shown(printable(row.Name))
		if row.Names > 1 {
			next += " " + wholePercent(row.Share)
		}
		if i > 0 {
			next = list + ", " + next
		}
		if rest := row.Names - int64(i); i > 0 && utf8.RuneCountInString(next)+len(others(rest-1)) > maxCell {
			return list + others(rest)
		}
		list = next
	}
	if n := len(rows); n > 0 {
		list += others(rows[0].Names - int64(n))
	}
	return list
}

// others ends a list that n are missing from.
func others(n int64) string {
	if n == 0 {
		return ""
	}
	return ", " + humanize.Comma(n) + " more"
}

// wholePercent is a share that is neither nothing nor all.
func wholePercent(share float64) string {
	if share < 0.01 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", min(100*share, 99))
}
