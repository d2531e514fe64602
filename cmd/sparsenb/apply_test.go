package main

import (
	"slices"
	"testing"

	"github.com/sparsenb/sparsenb/model"
)

// A decision of a rule that chose different ks may have the same K as one with this k for all problems.
func TestChooseK(t *testing.T) {
	decisions := []model.Decision{
		{Problem: "ovr", K: 10, Requested: "10", Smoothing: 1},
		{Problem: "ovr", K: 10, Requested: "auto:knee", Smoothing: 1, Mixed: true},
		{Problem: "ovr", K: 12, Requested: "auto:gain=99%", Smoothing: 1, Mixed: true},
	}
	for k, want := range map[string][]string{"": {"10", "auto:knee", "auto:gain=99%"}, "10": {"10"}, "12": {"auto:gain=99%"}, "10,12": {"10", "auto:gain=99%"}} {
		f := applyFlags{k: &k, smoothing: new("")}
		chosen, err := f.choose(decisions)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range chosen {
			got = append(got, d.Requested)
		}
		if !slices.Equal(got, want) {
			t.Errorf("--k=%s: %q, want %q", k, got, want)
		}
	}
}

func TestHasSameK(t *testing.T) {
	list := []decided{{"ovr", 9, "9", 1, "a"}, {"ovr", 9, "9", 1, "b"}, {"ovr", 10, "10", 1, "a"}}
	if hasSameK(list) {
		t.Error("the ks differ")
	}
	if list = append(list, decided{"ovr", 10, "auto:knee", 1, "a"}); !hasSameK(list) {
		t.Error("k = 10 is there twice")
	}
}
