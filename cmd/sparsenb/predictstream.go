package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/report"
	"github.com/sparsenb/sparsenb/transforms"
)

// streamFlags are those that have a use without --output.
var streamFlags = []string{"model_dir", "k", "smoothing", "explain", "format", "header", "label_column", "text_column", "label_map", "classes", "max_record_bytes", "max_rejected", "log_level"}

// checkStreamFlags fails if a flag is given that has no use without --output.
func checkStreamFlags(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if err == nil && !slices.Contains(streamFlags, f.Name) {
			err = modelio.Usagef("--%s: has no use for standard input; name files with --input, and a folder with --output", f.Name)
		}
	})
	return err
}

// predictStream writes a line for each document of a stream, as soon as the document has arrived.
func (f *applyFlags) predictStream(ctx context.Context, in io.Reader, out io.Writer, m *model.Model, chosen transforms.ModelParams, reasons int) error {
	if n := len(chosen.Decisions); n != 1 {
		return modelio.Usagef("the model has %d decisions, and a line has one prediction; choose one with --k and --smoothing, or write all with --input and --output", n)
	}
	budget, err := transforms.ParseBudget(*f.maxRejected)
	if err != nil {
		return modelio.Usagef("--max_rejected: %w", err)
	}
	reading, err := f.reading.parse(ctx)
	if err != nil {
		return err
	}
	reading.LabelOptional = true
	const name = "standard input"
	if err := checkKind(m, name, false); err != nil {
		return err
	}
	rejected, first := int64(0), ""
	documents, err := corpusio.NewLines(in, name, corpusio.Options{Reading: reading, Reject: func(r corpusio.Rejection) {
		if rejected++; rejected == 1 {
			first = fmt.Sprintf("byte %d: %s", r.Offset, r.Reason.Sentence())
		}
	}})
	if err != nil {
		return streamError(err)
	}
	predictor := m.NewPredictor(chosen.Keeps)
	w := bufio.NewWriter(out)
	var d corpusio.Document
	total := int64(0)
	for documents.Next(&d) {
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), documents.Abandon())
		}
		total++
		scores, err := predictor.Text(d.Text)
		if err != nil {
			return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%s, byte %d: %w", name, d.Offset, err)}
		}
		writeDecided(w, scores[0], predictor, &d, reasons)
		if err := w.Flush(); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
	}
	if err := documents.Close(); err != nil {
		return streamError(err)
	}
	if left := documents.Skipped(); left.Blank > 0 || left.OtherClasses > 0 {
		warn("%s and %s have no prediction", report.Plural(left.Blank, "empty line"), report.Plural(left.OtherClasses, "document")+" of classes that --classes leaves out")
	}
	if rejected > 0 {
		warn("%s of %s malformed, without a prediction; the first: %s", report.Plural(rejected, "line"), report.Count(float64(total+rejected)), first)
	}
	if budget.Exceeded(rejected, total+rejected) {
		return &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("%d of %d lines are malformed, more than --max_rejected=%s", rejected, total+rejected, budget.Text)}
	}
	return nil
}

// streamError adds the exit code to an error of reading a stream.
func streamError(err error) error {
	var layout *corpusio.LayoutError
	var corrupt *corpusio.CorruptError
	var header *corpusio.HeaderError
	switch {
	case errors.As(err, &layout):
		return &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	case errors.As(err, &corrupt), errors.As(err, &header):
		return &modelio.Error{Exit: modelio.ExitData, Err: err}
	}
	return &modelio.Error{Exit: modelio.ExitFailed, Err: err}
}

// oneField makes a text a field of a tab-separated line.
var oneField = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// writeDecided writes a line: the predicted label, its probability (or score, if there are no probabilities), the label of the
// document, its text, and the reasons.
func writeDecided(w io.Writer, s model.Scores, p *model.Predictor, d *corpusio.Document, reasons int) {
	confidence := s.Scores[s.Class]
	if s.LogProbs != nil {
		confidence = math.Exp(s.LogProbs[s.Class])
	}
	printf(w, "%s\t%s\t%s\t%s", oneField.Replace(s.Decision.Classes[s.Class]), strconv.FormatFloat(confidence, 'g', 6, 64), oneField.Replace(strings.Join(transforms.LabelsOf(d), ",")), oneField.Replace(string(d.Text)))
	if reasons > 0 {
		var list []string
		for _, r := range p.Explain(0, reasons) {
			list = append(list, fmt.Sprintf("%s %+.2f", oneField.Replace(r.Feature), r.Effect))
		}
		printf(w, "\t%s", strings.Join(list, ", "))
	}
	printf(w, "\n")
}
