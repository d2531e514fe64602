package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sparsenb/sparsenb/io/corpusio"
	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/model"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// applyFlags are those of the commands that apply a model to documents. The words are found as the model says, so there are no
// flags for them.
type applyFlags struct {
	input                                       list
	modelDir, k, smoothing, output, maxRejected *string
	reading                                     *readingFlags
	rejects                                     rejectFlags
	runner                                      func() (pipeline.Runner, error)
}

func addApplyFlags(fs *flag.FlagSet) *applyFlags {
	f := &applyFlags{
		output:      addOutputFlag(fs),
		modelDir:    fs.String("model_dir", "", "=DIR output folder of the run that made the model"),
		k:           fs.String("k", "", "=K,… the models to use, by their numbers of features (default: all)"),
		smoothing:   fs.String("smoothing", "", "=A,… the models to use, by their smoothing (default: all)"),
		maxRejected: fs.String("max_rejected", "1%", "=N|P% malformed records tolerated, as a number or a percentage; the run fails if there are more"),
		reading:     addReadingFlags(fs),
		rejects:     addRejectFlags(fs),
		runner:      addRunnerFlags(fs),
	}
	fs.Var(&f.input, "input", "=GLOB input files, or folders of them; may be repeated")
	return f
}

// addRowShardsFlag adds a flag for commands that write rows of documents.
func addRowShardsFlag(fs *flag.FlagSet) *string {
	return fs.String("shards", "1", "=N number of files that the rows are written to, 1 to 10000; a worker has the rows of one file in memory")
}

// open opens the model. It also returns the parameters for the workers, with the decisions that the flags choose.
func (f *applyFlags) open(ctx context.Context) (*model.Model, transforms.ModelParams, error) {
	var p transforms.ModelParams
	if err := required("model_dir", *f.modelDir, "the output folder of the run that made the model"); err != nil {
		return nil, p, err
	}
	dir, err := fileio.Absolute(*f.modelDir) // workers may have another folder
	if err != nil {
		return nil, p, modelio.Usagef("--model_dir: %w", err)
	}
	m, err := model.Open(ctx, dir)
	if err != nil {
		return nil, p, err
	}
	p.Dir, p.SHA256 = dir, m.SHA256()
	decisions, err := f.choose(m.Decisions())
	for _, d := range decisions {
		p.Decisions = append(p.Decisions, transforms.KeyOf(d))
	}
	return m, p, err
}

// choose returns the decisions of the flags --k and --smoothing: of a k, those with the same k for all problems, if there are any.
func (f *applyFlags) choose(decisions []model.Decision) ([]model.Decision, error) {
	decisions, err := chosen("k", *f.k, decisions, func(d model.Decision) float64 { return float64(d.K) })
	if err != nil {
		return nil, err
	}
	if *f.k != "" { // as Model.At
		all := decisions
		decisions = slices.DeleteFunc(slices.Clone(all), func(d model.Decision) bool {
			return d.Mixed && slices.ContainsFunc(all, func(o model.Decision) bool {
				return !o.Mixed && o.Problem == d.Problem && o.K == d.K && o.Smoothing == d.Smoothing
			})
		})
	}
	return chosen("smoothing", *f.smoothing, decisions, func(d model.Decision) float64 { return d.Smoothing })
}

// chosen returns the decisions whose property is one of the values of a flag; all if it was not given.
func chosen(flag, values string, decisions []model.Decision, property func(model.Decision) float64) ([]model.Decision, error) {
	if values == "" {
		return decisions, nil
	}
	keep := map[float64]bool{}
	for _, text := range strings.Split(values, ",") {
		value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, modelio.Usagef("--%s=%s: must be numbers, such as --%s=%v", flag, values, flag, property(decisions[0]))
		}
		if !slices.ContainsFunc(decisions, func(d model.Decision) bool { return property(d) == value }) {
			return nil, modelio.Usagef("--%s=%s: the model has no %s = %s; %s", flag, values, flag, text, available(flag, value, decisions, property))
		}
		keep[value] = true
	}
	return slices.DeleteFunc(slices.Clone(decisions), func(d model.Decision) bool { return !keep[property(d)] }), nil
}

// available names the nearest value that there is, and some others.
func available(flag string, value float64, decisions []model.Decision, property func(model.Decision) float64) string {
	var all []float64
	for _, d := range decisions {
		all = append(all, property(d))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	nearest := slices.MinFunc(all, func(a, b float64) int { return cmp.Compare(math.Abs(a-value), math.Abs(b-value)) })
	const most = 10
	var list []string
	for _, v := range all[:min(len(all), most)] {
		list = append(list, strconv.FormatFloat(v, 'g', -1, 64))
	}
	if len(all) > most {
		list = append(list, "…")
	}
	return fmt.Sprintf("the nearest is %v, and it has %s = %s", nearest, flag, strings.Join(list, ", "))
}

// application is how a command applies a model to documents.
type application struct {
	verb    string
	model   *model.Model
	chosen  transforms.ModelParams
	against []transforms.ModelParams // more models
	shards  int
	options map[string]string // of the command
}

// run validates the flags and runs the graph that build makes.
func (f *applyFlags) run(ctx context.Context, a application, build func(s beam.Scope, run modelio.Run, output string, d pipeline.Documents)) error {
	d, err := f.documents(ctx, a.model, a.shards)
	run := pipeline.NewApplyRun(a.verb, versionString(), d, a.chosen, a.options, a.against...)
	if err != nil {
		return pipeline.Refuse(ctx, *f.output, run, err)
	}
	runner, err := f.runner()
	if err != nil {
		return err
	}
	if !runner.InProcess() {
		d.Tuning.Threads = 1 // an engine runs one bundle per slot
	}
	if err := checkRejects(ctx, d.Rejects, runner, run); err != nil {
		return err
	}
	return launch(ctx, runner, *f.output, run, size(d.Files), func(s beam.Scope, output string) { build(s, run, output, d) })
}

// documents validates the flags and lists the files.
func (f *applyFlags) documents(ctx context.Context, m *model.Model, shards int) (d pipeline.Documents, err error) {
	if len(f.input) == 0 && len(f.reading.labels.class) == 0 || slices.Contains(f.input, "") {
		return d, modelio.Usagef("--input is required: files of documents")
	}
	if err := required("output", *f.output, "the folder to write to"); err != nil {
		return d, err
	}
	if d.MaxRejected, err = transforms.ParseBudget(*f.maxRejected); err != nil {
		return d, modelio.Usagef("--max_rejected: %w", err)
	}
	if d.Reading, err = f.reading.parse(ctx); err != nil {
		return d, err
	}
	d.Reading.LabelOptional = true
	d.Reading.WholeFiles = readWholeFiles(m.Manifest().Inputs)
	if d.Rejects, err = f.rejects.parse(*f.output); err != nil {
		return d, err
	}
	patterns, err := f.reading.labels.patterns(f.input)
	if err != nil {
		return d, err
	}
	d.Shards = shards
	if a := m.Manifest().Analyzer; a != nil { // limits depend on it
		config, err := kernel.FromAnalyzer(*a)
		if err != nil {
			return d, modelio.Usagef("%s: %w", *f.modelDir, err)
		}
		d.Analyzer = config.Analyzer
	}
	if err := d.Validate(); err != nil {
		return d, err
	}
	if d.Files, err = corpusio.ListLabeled(ctx, patterns, d.Reading); err != nil {
		return d, modelio.InputError(explainInput(err))
	}
	for _, file := range d.Files {
		if file.Size == 0 {
			continue
		}
		if err := checkKind(m, file.Name, file.IsMatrix()); err != nil {
			return d, err
		}
	}
	if !hasContent(d.Files) {
		return d, &modelio.Error{Exit: modelio.ExitData, Err: fmt.Errorf("no documents: %s", allEmpty(d.Files))}
	}
	return d, d.ValidateFiles()
}

// checkKind fails if the model is of texts and an input is a matrix, or the reverse. The manifest of select does not know.
func checkKind(m *model.Model, name string, matrix bool) error {
	for _, in := range m.Manifest().Inputs {
		if in.Size > 0 && matrix != in.IsMatrix() {
			kinds := map[bool]string{true: "a matrix", false: "text"}
			return modelio.Usagef("%s: is %s, but the model was made from %s", name, kinds[matrix], kinds[in.IsMatrix()])
		}
	}
	return nil
}

// readWholeFiles reports whether the documents that the model was trained on were files of plain text. Then those it is applied
// to are probably, too.
func readWholeFiles(inputs []modelio.Input) bool {
	whole := func(f modelio.Input) bool { return f.Format == "file" }
	lines := func(f modelio.Input) bool { return f.Format == "text" }
	return slices.ContainsFunc(inputs, whole) && !slices.ContainsFunc(inputs, lines)
}
