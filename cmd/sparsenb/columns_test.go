package main

import (
	"slices"
	"testing"
)

func TestDisplayWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "word": 4, "naïve": 5, "nai\u0308ve": 5, "日本語": 6, "ｗｉｄｅ": 8, "καλός": 5, "שלום": 4, "a\u200db": 2, "│█": 2} {
		if got := displayWidth(text); got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		parts   []string
		columns int
		want    []string
	}{
		{nil, 9, nil},
		{[]string{"ab", "cd", "ef"}, 5, []string{"ab cd", "ef"}},
		{[]string{"abcdefgh", "ij"}, 5, []string{"abcdefgh", "ij"}},
		{[]string{"日本", "日", "x"}, 7, []string{"日本 日", "x"}},
		{[]string{"a"}, -1, []string{"a"}},
	} {
		if got := fill(c.parts, c.columns); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.parts, c.columns, got, c.want)
		}
	}
}
