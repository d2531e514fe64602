package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// flags are the flags of a command. The set also has Beam's 58 flags.
type flags struct {
	set      *flag.FlagSet
	command  command
	listed   []string // those that help lists: the command's, and those of Beam that it explains
	logLevel *string
	run      func(ctx context.Context, args []string) error
}

func registerFlags(fs *flag.FlagSet, c command) flags {
	fs.Init("sparsenb", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	before := map[string]string{}
	fs.VisitAll(func(f *flag.Flag) { before[f.Name] = f.Usage })
	f := flags{set: fs, command: c, run: c.prepare(fs)}
	f.logLevel = fs.String("log_level", "off", "=LEVEL log level of Beam and its runners: off, error, warn, info or debug")
	fs.VisitAll(func(g *flag.Flag) {
		if usage, ok := before[g.Name]; !ok || usage != g.Usage {
			f.listed = append(f.listed, g.Name)
		}
	})
	return f
}

// parse parses flags, before and after the positional arguments, which it returns.
func (f flags) parse(args []string) (arguments []string, err error) {
	var repeated error
	refuseRepeats(f.set, &repeated)
	for {
		if err := f.set.Parse(args); err != nil {
			return nil, cmp.Or(repeated, f.explain(err))
		}
		if f.set.NArg() == 0 {
			return arguments, f.checkWorkerFlags()
		}
		arguments = append(arguments, f.set.Arg(0))
		args = f.set.Args()[1:]
	}
}

// workerFlags are those with which Beam starts a worker. In a command they have no effect.
var workerFlags = []string{"id", "control_endpoint", "logging_endpoint", "semi_persist_dir"}

func (f flags) checkWorkerFlags() (err error) {
	if isWorker(f.set) {
		return nil
	}
	f.set.Visit(func(g *flag.Flag) {
		switch {
		case err != nil || !slices.Contains(workerFlags, g.Name):
		case g.Name == "id" && f.set.Lookup("id_column") != nil:
			err = modelio.Usagef("--id is a flag of Beam's workers; a column with identifiers is named with --id_column")
		default:
			err = modelio.Usagef("--%s is a flag of Beam's workers, and has no effect here; remove it", g.Name)
		}
	})
	return err
}

func (f flags) explain(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return modelio.Usagef("%s", strings.NewReplacer("invalid boolean flag ", "--", "flag -", "flag --", "for -", "for --", ": -", ": --").Replace(err.Error()))
	}
	var all []string
	f.set.VisitAll(func(g *flag.Flag) {
		if !slices.Contains(workerFlags, g.Name) {
			all = append(all, g.Name)
		}
	})
	unknown := fmt.Sprintf("unknown flag --%s for %q", strings.TrimLeft(name, "-"), f.command.name)
	if guess := cmp.Or(nearest(name, f.listed), nearest(name, all)); guess != "" {
		return modelio.Usagef("%s; did you mean --%s?", unknown, guess)
	}
	return modelio.Usagef("%s; see sparsenb help %s", unknown, f.command.name)
}

// manual returns the text of help: the command's, and its flags in alphabetical order.
//
// The usage of a flag is =VALUE, a space, and what it does. Its default is added unless the text ends with one.
func (f flags) manual() string {
	var b strings.Builder
	b.WriteString(f.command.manual + "\nFlags:\n")
	for _, name := range slices.Sorted(slices.Values(f.listed)) {
		g := f.set.Lookup(name)
		value, text, _ := strings.Cut(g.Usage, " ")
		if g.DefValue != "" && g.DefValue != "false" && !strings.Contains(text, "(default") {
			text += " (default\u00a0" + g.DefValue + ")" // not to be wrapped
		}
		fmt.Fprintf(&b, "  --%s%s%s\n", name, value, strings.ReplaceAll(wrap(text), "\u00a0", " "))
	}
	return b.String()
}

// wrap breaks a text into indented lines of 80 columns.
func wrap(text string) string {
	const indent, columns = "\n        ", 80
	var b strings.Builder
	for width, word := columns, ""; text != ""; {
		word, text, _ = strings.Cut(text, " ")
		if width += 1 + len(word); width > columns {
			b.WriteString(indent)
			width = len(indent) - 1 + len(word)
		} else {
			b.WriteString(" ")
		}
		b.WriteString(word)
	}
	return b.String()
}

// refuseRepeats makes it an error to give a flag twice unless it is a list. The error goes to repeated, because package
// flag keeps only the text of an error.
func refuseRepeats(fs *flag.FlagSet, repeated *error) {
	fs.VisitAll(func(f *flag.Flag) {
		if reflect.TypeOf(f.Value).Elem().PkgPath() == "flag" { // other types, such as list, collect values
			f.Value = &single{Value: f.Value, name: f.Name, repeated: repeated}
		}
	})
}

// single is a flag that may be given only once.
type single struct {
	flag.Value
	name     string
	given    bool
	repeated *error
}

// Set fails if a value was given before.
func (s *single) Set(value string) error {
	if s.given {
		*s.repeated = modelio.Usagef("--%s is given twice, with %q and %q; give it once", s.name, s.Value, value)
		return *s.repeated
	}
	s.given = true
	return s.Value.Set(value)
}

// IsBoolFlag reports whether the flag needs no value.
func (s *single) IsBoolFlag() bool {
	b, ok := s.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// nearest returns the name that is most like the word, or "" if none is close.
func nearest(word string, names []string) (best string) {
	distance := 1 + len(word)/3
	for _, name := range names {
		if d := editDistance(strings.ToLower(word), name); d <= distance && (best == "" || d < distance) {
			best, distance = name, d
		}
	}
	return best
}

// editDistance returns the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// commas splits the values of a list flag at commas.
func (l list) commas() []string {
	var parts []string
	for _, value := range l {
		for _, part := range strings.Split(value, ",") {
			parts = append(parts, strings.TrimSpace(part))
		}
	}
	return parts
}

func noArguments(args []string) error {
	if len(args) > 0 {
		return modelio.Usagef("unexpected argument %q; flags start with --, as in --input=%s", args[0], args[0])
	}
	return nil
}

func required(name, value, meaning string) error {
	if value == "" {
		return modelio.Usagef("--%s is required: %s", name, meaning)
	}
	return nil
}

func parseBytes(name, value string) (int, error) {
	n, err := humanize.ParseBytes(value)
	if err != nil || n > math.MaxInt {
		return 0, modelio.Usagef("--%s=%s: must be a size such as 8MiB", name, value)
	}
	return int(n), nil
}

func parseInt(name, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, modelio.Usagef("--%s=%s: must be a whole number", name, value)
	}
	return n, nil
}

// parseClassDocuments reads label=n pairs. A label that contains a comma needs a separate flag.
func parseClassDocuments(values list) (map[string]int64, error) {
	documents := map[string]int64{}
	for _, value := range values {
		pairs := strings.Split(value, ",")
		if _, _, ok := parsePair(value); ok { // one pair, whose label may have commas
			pairs = []string{value}
		}
		for _, pair := range pairs {
			label, n, ok := parsePair(pair)
			if !ok {
				return nil, modelio.Usagef("--class_documents=%s: %q must be LABEL=N, such as pos=100", value, pair)
			}
			if _, ok := documents[label]; ok {
				return nil, modelio.Usagef("--class_documents: class %s is given twice", label)
			}
			documents[label] = n
		}
	}
	return documents, nil
}

func parsePair(pair string) (label string, n int64, ok bool) {
	at := strings.LastIndexByte(pair, '=')
	if at <= 0 || strings.Contains(pair[:at], "=") && strings.Contains(pair, ",") {
		return "", 0, false
	}
	n, err := strconv.ParseInt(pair[at+1:], 10, 64)
	return pair[:at], n, err == nil && n > 0
}
