package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
)

// flags are those of one verb, with what it explains of Beam's; the flag set also has the others of Beam's 58.
type flags struct {
	verb  string
	names []string
	run   func(ctx context.Context, args []string) error
}

func ownFlags(fs *flag.FlagSet, v verb) flags {
	before := map[string]string{}
	fs.VisitAll(func(f *flag.Flag) { before[f.Name] = f.Usage })
	own := flags{verb: v.name, run: v.prepare(fs)}
	fs.VisitAll(func(f *flag.Flag) {
		if usage, ok := before[f.Name]; !ok || usage != f.Usage {
			own.names = append(own.names, f.Name)
		}
	})
	return own
}

// parse parses flags, which may also stand behind the positional arguments.
func parse(fs *flag.FlagSet, args []string) (positional []string, err error) {
	var repeated error
	refuseRepeats(fs, &repeated)
	for {
		if err := fs.Parse(args); err != nil {
			return nil, cmp.Or(repeated, err)
		}
		if fs.NArg() == 0 {
			return positional, nil
		}
		positional = append(positional, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// refuseRepeats makes it an error to give a flag twice that keeps one value, and tells it in repeated: package flag wraps
// the error of a value as text.
func refuseRepeats(fs *flag.FlagSet, repeated *error) {
	fs.VisitAll(func(f *flag.Flag) {
		if reflect.TypeOf(f.Value).Elem().PkgPath() == "flag" { // the types of others, such as list, add up
			f.Value = &single{Value: f.Value, name: f.Name, repeated: repeated}
		}
	})
}

// single is a flag that may be given once.
type single struct {
	flag.Value
	name     string
	given    bool
	repeated *error
}

// Set fails if a value was given before.
func (s *single) Set(value string) error {
	if s.given {
		*s.repeated = modelio.Usagef("--%s is given twice, as %q and as %q; give it once", s.name, s.Value, value)
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

// explainFlag puts an error of package flag in our words.
func explainFlag(fs *flag.FlagSet, own flags, err error) error {
	var usage *modelio.Error
	if errors.As(err, &usage) {
		return err
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		var all []string
		fs.VisitAll(func(f *flag.Flag) { all = append(all, f.Name) })
		guess := cmp.Or(didYouMean(name, own.names), didYouMean(name, all))
		return modelio.Usagef("--%s is no flag of sparsenb %s%s; sparsenb help %[2]s lists them", strings.TrimLeft(name, "-"), own.verb,
			strings.Replace(guess, "mean ", "mean --", 1))
	}
	return modelio.Usagef("%s", strings.NewReplacer("flag -", "flag --", ": -", ": --").Replace(err.Error()))
}

// didYouMean returns a question that names the word nearest to the one given, if one is near.
func didYouMean(word string, words []string) string {
	best, distance := "", 1+len(word)/3
	for _, w := range words {
		if d := editDistance(strings.ToLower(word), w); d <= distance && (best == "" || d < distance) {
			best, distance = w, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// editDistance is how many bytes to change, insert or delete to get from a to b.
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

// list is a flag that may be repeated.
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
		return modelio.Usagef("%q is not expected; options start with --, as in --input=%s", args[0], args[0])
	}
	return nil
}

func required(name, value, meaning string) error {
	if value == "" {
		return modelio.Usagef("--%s is missing: %s", name, meaning)
	}
	return nil
}

func parseBytes(name, value string, least, most uint64) (int, error) {
	n, err := humanize.ParseBytes(value)
	if err != nil {
		return 0, modelio.Usagef("--%s=%s: not a size such as 8MiB", name, value)
	}
	if n < least || n > most {
		return 0, modelio.Usagef("--%s=%s: must be from %s to %s", name, value, humanize.IBytes(least), humanize.IBytes(most))
	}
	return int(n), nil
}

func parseInt(name, value string, least, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, modelio.Usagef("--%s=%s: not a number from %d to %d", name, value, least, most)
	}
	return n, nil
}

// parseClassDocuments reads label=n pairs. A label with a comma needs a flag of its own.
func parseClassDocuments(values list) (map[string]int64, error) {
	documents := map[string]int64{}
	for _, value := range values {
		pairs := strings.Split(value, ",")
		if _, _, err := parsePair(value); err == nil { // one pair, perhaps with commas in its label
			pairs = []string{value}
		}
		for _, pair := range pairs {
			label, n, err := parsePair(pair)
			if err != nil {
				return nil, modelio.Usagef("--class_documents=%s: %s is not label=number", value, pair)
			}
			if _, ok := documents[label]; ok {
				return nil, modelio.Usagef("--class_documents: %s is given twice", label)
			}
			documents[label] = n
		}
	}
	return documents, nil
}

func parsePair(pair string) (label string, n int64, err error) {
	at := strings.LastIndexByte(pair, '=')
	if at <= 0 || strings.Contains(pair[:at], "=") && strings.Contains(pair, ",") {
		return "", 0, errors.New("not a pair")
	}
	n, err = strconv.ParseInt(pair[at+1:], 10, 64)
	return pair[:at], n, cmp.Or(err, positive(n))
}

func positive(n int64) error {
	if n < 1 {
		return errors.New("not positive")
	}
	return nil
}

// manual is the text of --help: the verb's own, and its flags in the order of the alphabet.
func manual(v verb, own flags) string {
	var b strings.Builder
	b.WriteString(v.manual)
	b.WriteString("\nFlags:\n")
	slices.Sort(own.names)
	for _, name := range own.names {
		f := flag.CommandLine.Lookup(name)
		fmt.Fprintf(&b, "  --%s%s\n", name, f.Usage)
	}
	return b.String()
}
