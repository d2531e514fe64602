package main

import (
	"context"
	"flag"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// gridOnly are the flags of tune that the command of the chosen model does not have, or has with another value.
var gridOnly = []string{"folds", "metric", "group_column", "k", "smoothing", "model", "weights", "min_df", "output"}

// printTrainCommand prints the command that trains the chosen model.
func printTrainCommand(ctx context.Context, w io.Writer, fs *flag.FlagSet, dir string) error {
	rows, err := readTuning(ctx, dir)
	if err != nil {
		return err
	}
	chosen := rows[slices.IndexFunc(rows, func(r modelio.TuningRow) bool { return r.Chosen })]
	printf(w, "\nTo train the chosen model:\n  %s\n", trainCommand(fs, chosen, dir))
	return nil
}

func trainCommand(fs *flag.FlagSet, chosen modelio.TuningRow, dir string) string {
	words := []string{"sparsenb", "train"}
	add := func(name, value string) { words = append(words, quoteShell("--"+name+"="+value)) }
	fs.Visit(func(f *flag.Flag) {
		if slices.Contains(gridOnly, f.Name) {
			return
		}
		value := f.Value
		if s, ok := value.(*single); ok {
			value = s.Value
		}
		if l, ok := value.(*list); ok {
			for _, v := range *l {
				add(f.Name, v)
			}
			return
		}
		add(f.Name, value.String())
	})
	add("k", chosen.KRequested)
	add("smoothing", strconv.FormatFloat(chosen.Smoothing, 'g', -1, 64))
	if chosen.Model != "multinomial" {
		add("model", chosen.Model)
	} else if chosen.Weights != "count" {
		add("weights", chosen.Weights)
	}
	if chosen.MinDF != "" {
		add("min_df", chosen.MinDF)
	}
	add("output", strings.TrimSuffix(dir, "/")+"-model")
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoteShell quotes a word for a shell.
func quoteShell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
