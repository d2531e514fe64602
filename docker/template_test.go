package docker

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/dataflow/v1b3"

	"github.com/sparsenb/sparsenb/solver"
)

func readMetadata(t *testing.T) dataflow.TemplateMetadata {
	t.Helper()
	text, err := os.ReadFile("flex-template/metadata.json")
	if err != nil {
		t.Fatal(err)
	}
	var m dataflow.TemplateMetadata
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// notParameters are the flags of train that mean nothing on Dataflow, or not yet.
var notParameters = []string{
	// may be repeated, which a parameter cannot be; label_from does the same with one pattern
	"class",
	// for engines with a job server
	"endpoint", "environment_config", "environment_type", "parallelism", "stall_timeout",
	// given by the launcher, or to gcloud
	"project", "region", "runner", "sdk_container_image", "staging_location", "temp_location", "template_location", "worker_binary",
}

func TestParametersAreFlags(t *testing.T) {
	manual := run(t, nil, sparsenb(t), "help", "train")
	var flags []string
	for _, m := range regexp.MustCompile(`(?m)^  --([a-z_]+)`).FindAllStringSubmatch(manual, -1) {
		if !slices.Contains(notParameters, m[1]) {
			flags = append(flags, m[1])
		}
	}
	var parameters []string
	for _, p := range readMetadata(t).Parameters {
		parameters = append(parameters, p.Name)
	}
	slices.Sort(parameters)
	if !slices.Equal(parameters, flags) {
		t.Errorf("the template has the parameters %v, the command the flags %v", parameters, flags)
	}
}

func TestParametersAreExplained(t *testing.T) {
	m := readMetadata(t)
	if m.Name == "" || !strings.HasSuffix(m.Description, ".") {
		t.Errorf("name %q, description %q", m.Name, m.Description)
	}
	// As gcloud knows them; a type that it does not know stops it.
	types := []string{"TEXT", "ENUM", "NUMBER", "GCS_READ_FILE", "GCS_WRITE_FOLDER"}
	for _, p := range m.Parameters {
		if p.Label == "" || !strings.HasSuffix(p.HelpText, ".") {
			t.Errorf("%s: label %q, help %q", p.Name, p.Label, p.HelpText)
		}
		if !slices.Contains(types, p.ParamType) {
			t.Errorf("%s: is a %s", p.Name, p.ParamType)
		}
		if p.IsOptional == slices.Contains([]string{"input", "output", "k"}, p.Name) {
			t.Errorf("%s: optional is %v", p.Name, p.IsOptional)
		}
	}
}

func TestParametersAreChecked(t *testing.T) {
	accepts := func(p *dataflow.ParameterMetadata, value string) bool {
		for _, r := range p.Regexes {
			if !regexp.MustCompile(r).MatchString(value) {
				return false
			}
		}
		return true
	}
	values := map[string]struct{ good, bad []string }{
		"input":               {[]string{"gs://bucket/reviews-*.tsv.gz", "gs://bucket/a/b c.tsv"}, []string{"reviews.tsv", "gs://bucket", "s3://bucket/a"}},
		"output":              {[]string{"gs://bucket/models/2026-11-21", "gs://bucket/model/"}, []string{"out", "gs://bucket/"}},
		"k":                   {[]string{"9", "5%", "10,100,1%", "0.5%", "10, 20", "auto:knee", "10,auto:gain=99%"}, []string{"", "ten", "10;20", "10,", "-3", "auto", "auto:fdr"}},
		"positive":            {[]string{"Hamilton", "spam, or worse"}, nil},
		"model":               {[]string{"multinomial", "bernoulli"}, []string{"", "gaussian", "Bernoulli"}},
		"smoothing":           {[]string{"1", "0", "0.5", ".5", "1e-3", "0.1,1"}, []string{"", "none", "-1", "1;5", "1,"}},
		"classifier":          {[]string{"mnb", "cnb", "bnb", "logistic", "svm"}, []string{"", "lr", "MNB"}},
		"c":                   {[]string{"1", "0.5", ".5", "10", "1e-3"}, []string{"", "one", "-1", "1,2"}},
		"strategy":            {[]string{"ovr", "ovo", "joint"}, []string{"", "all", "ovr,ovo"}},
		"method":              {[]string{"nfs", "chi2"}, []string{"", "best", "NFS"}},
		"analyzer":            {[]string{"word", "char", "char_wb", "unicode", "whitespace", `regex:\b\w+\b`}, []string{"", "chars", "Word", "regex", "regex:"}},
		"keep_case":           {[]string{"true", "false"}, []string{"", "yes"}},
		"normalize":           {[]string{"none", "nfc", "nfkc"}, []string{"", "nfd"}},
		"strip_accents":       {[]string{"true", "false"}, []string{"", "ascii"}},
		"min_token_length":    {[]string{"0", "3"}, []string{"", "-1", "two"}},
		"ngrams":              {[]string{"1,1", "1,2", "3", "3, 5", "1,15"}, []string{"", "0,1", "1,", "one", "-1,1", "1,2,3"}},
		"weights":             {[]string{"count", "binary", "log", "tfidf"}, []string{"", "tf", "TFIDF"}},
		"value_unit":          {[]string{"1", "0.5", "2^-10", "2^4"}, []string{"", "2^", "half", "-1"}},
		"norm":                {[]string{"l2", "l1", "none"}, []string{"", "l3", "max"}},
		"sublinear_tf":        {[]string{"true", "false"}, []string{"", "maybe"}},
		"smooth_idf":          {[]string{"true", "false"}, []string{"", "maybe"}},
		"hash_bits":           {[]string{"0", "1", "20", "32"}, []string{"", "33", "-1", "many"}},
		"memory_budget":       {[]string{"256MiB", "1.5 GB", "8GiB", "536870912"}, []string{"", "half", "-1", "GiB"}},
		"stop_words":          {[]string{"gs://bucket/stop.txt"}, []string{"stop.txt"}},
		"max_rejected":        {[]string{"1%", "0", "100", "0.1%"}, []string{"", "%", "-1", "few"}},
		"max_classes":         {[]string{"1", "1000", "50000"}, []string{"", "0", "-1", "many"}},
		"header":              {[]string{"true", "false"}, []string{"", "yes"}},
		"format":              {[]string{"auto", "tsv", "warc", "wet"}, []string{"", "TSV"}},
		"label_column":        {[]string{"label", "2"}, []string{""}},
		"weight_column":       {[]string{"weight", "4"}, []string{""}},
		"text_column":         {[]string{"title,body", "3"}, []string{""}},
		"feature_names":       {[]string{"gs://bucket/names.txt"}, []string{"names.txt"}},
		"label_from":          {[]string{"record", "folder", "file"}, []string{"", "path"}},
		"label_map":           {[]string{"gs://bucket/labels.tsv"}, []string{"labels.tsv"}},
		"classes":             {[]string{"spam", "spam,ham"}, []string{"", "spam,,ham", ","}},
		"rejects_output":      {[]string{"gs://bucket/rejects"}, []string{"rejects"}},
		"log_samples":         {[]string{"false"}, []string{"", "yes"}},
		"max_expansion_ratio": {[]string{"2000"}, []string{"", "many"}},
		"on_corrupt_file":     {[]string{"fail", "skip"}, []string{"", "ignore"}},
		"max_record_bytes":    {[]string{"8MiB", "8388608", "1.5 MB", "64kB"}, []string{"", "MiB", "-1", "eight"}},
		"min_df":              {[]string{"5", "0", "1%", "0.5%", "0.01", ".5", "1.0"}, []string{"", "-1", "few", "%"}},
		"max_df":              {[]string{"1000", "90%", "0.9"}, []string{"", "-1", "few", "%"}},
		"min_count":           {[]string{"1", "10"}, []string{"", "0", "0.5", "-1"}},
		"max_features":        {[]string{"1", "10000"}, []string{"", "0", "10%", "-1"}},
		"vocabulary":          {[]string{"gs://bucket/words.txt"}, []string{"words.txt"}},
		"exclude":             {[]string{"gs://bucket/words.txt"}, []string{"words.txt"}},
		"shards":              {[]string{"1", "64", "1000"}, []string{"", "0", "-1", "6.4"}},
		"log_level":           {[]string{"off", "error", "warn", "info", "debug"}, []string{"", "all"}},
	}
	for _, p := range readMetadata(t).Parameters {
		cases, ok := values[p.Name]
		if !ok {
			t.Errorf("%s: is not tested", p.Name)
		}
		for _, option := range p.EnumOptions {
			cases.good = append(cases.good, option.Value)
		}
		for _, v := range cases.good {
			if !accepts(p, v) {
				t.Errorf("%s: %q is refused", p.Name, v)
			}
			checkTaken(t, p.Name, v)
		}
		for _, v := range cases.bad {
			if accepts(p, v) {
				t.Errorf("%s: %q is accepted", p.Name, v)
			}
		}
	}
}

// A list of choices is that of the program, also in the check of what was typed.
func TestParametersListAllMethods(t *testing.T) {
	var want []string
	for _, m := range solver.Methods {
		want = append(want, m.String())
	}
	for _, p := range readMetadata(t).Parameters {
		if p.Name != "method" {
			continue
		}
		var got []string
		for _, option := range p.EnumOptions {
			got = append(got, option.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the template has the methods %v, the program %v", got, want)
		}
		if regex := "^(" + strings.Join(want, "|") + ")$"; !slices.Equal(p.Regexes, []string{regex}) {
			t.Errorf("the template checks for %v, want %s", p.Regexes, regex)
		}
	}
}

// checkTaken wants the command not to complain about a value.
func checkTaken(t *testing.T, name, value string) {
	t.Helper()
	if strings.HasPrefix(value, "gs://") {
		return // there is no bucket
	}
	dir := t.TempDir()
	args := []string{"--input=" + filepath.Join(dir, "nothing"), "--output=" + filepath.Join(dir, "out")}
	if name != "k" {
		args = append(args, "--k=1")
	}
	if slices.Contains([]string{"norm", "sublinear_tf", "smooth_idf"}, name) {
		args = append(args, "--weights=tfidf")
	}
	if name == "c" {
		args = append(args, "--classifier=svm")
	}
	_, err := output(t, nil, sparsenb(t), append(args, "--"+name+"="+value)...)
	if err == nil || !strings.Contains(err.Error(), "nothing") || strings.Contains(err.Error(), "--"+name+"=") {
		t.Errorf("--%s=%s: %v", name, value, err)
	}
}

// The script builds a program for Dataflow's machines, and hands image and metadata to gcloud.
func TestTemplateScript(t *testing.T) {
	dir := t.TempDir()
	fake := "#!/bin/sh\necho \"$(basename $0) $*\" >>$LOG/log\nfor last; do :; done\n[ $1 != build ] || cp -r \"$last\" $LOG/context\n"
	for _, name := range []string{"builder", "gcloud"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fake), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "BUILDER=builder", "LOG=" + dir}
	run(t, env, "docker/flex-template/build.sh", "example.org/sparsenb-template", "gs://bucket/sparsenb.json", "--temp-location=gs://bucket/tmp")
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	want := `builder build --platform linux/amd64 --tag example.org/sparsenb-template --file docker/flex-template/Dockerfile FOLDER
builder push example.org/sparsenb-template
gcloud dataflow flex-template build gs://bucket/sparsenb.json --image=example.org/sparsenb-template --sdk-language=GO --metadata-file=docker/flex-template/metadata.json --temp-location=gs://bucket/tmp
`
	if got := regexp.MustCompile(`Dockerfile \S+`).ReplaceAllString(string(log), "Dockerfile FOLDER"); got != want {
		t.Errorf("the script ran\n%s\nwant\n%s", got, want)
	}
	program, err := elf.Open(filepath.Join(dir, "context", "sparsenb"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); program.Machine != elf.EM_X86_64 || len(libraries) > 0 {
		t.Errorf("the program is for %v and needs %v (%v)", program.Machine, libraries, err)
	}
	dockerfile, err := os.ReadFile("flex-template/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(dockerfile, []byte("COPY sparsenb /template/sparsenb\nENV FLEX_TEMPLATE_GO_BINARY=/template/sparsenb\n")) {
		t.Errorf("the launcher does not find the program: %s", dockerfile)
	}
}
