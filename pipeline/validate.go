package pipeline

import (
	"encoding/json"
	"errors"
	"math"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/transforms/kernel"
)

// The largest values of Documents.
const (
	MaxNgram       = kernel.MaxNgram
	MaxTokenLength = 1000 // of MinTokenLength
	MaxRecordBytes = 256 << 20
	MaxClasses     = 10_000_000
	MaxExpansion   = 1_000_000_000
	MaxShards      = 10_000
)

// Validate returns an error for the first field that is missing, out of range or in conflict with another. The error has
// modelio.ExitUsage and names the flag. Files are not checked: they are data.
func (d Documents) Validate() error {
	a := d.Analyzer
	if err := a.Validate(); err != nil {
		return modelio.Usagef("--analyzer: %w", err)
	}
	least, most := a.Sizes()
	switch {
	case a.Min < 0 || a.Max < 0 || most < least || most > MaxNgram:
		return modelio.Usagef("--ngrams=%d,%d: must be MIN,MAX with 1 ≤ MIN ≤ MAX ≤ %d, such as 1,2", a.Min, a.Max, MaxNgram)
	case d.HashBits < 0 || d.HashBits > kernel.MaxHashBits:
		return modelio.Usagef("--hash_bits=%d: must be 0 to %d", d.HashBits, kernel.MaxHashBits)
	case a.Unit.Characters() && len(d.StopWords) > 0:
		return modelio.Usagef("--stop_words: requires --analyzer=word, unicode, whitespace or regex, and cannot be used with --analyzer=%s", a.Unit)
	case a.Unit.Characters() && a.MinTokenLength != 0:
		return modelio.Usagef("--min_token_length: requires --analyzer=word, unicode, whitespace or regex, and cannot be used with --analyzer=%s", a.Unit)
	case a.MinTokenLength < 0 || a.MinTokenLength > MaxTokenLength:
		return modelio.Usagef("--min_token_length=%d: must be 1 to %d", a.MinTokenLength, MaxTokenLength)
	case d.Reading.MaxRecordBytes < 1 || d.Reading.MaxRecordBytes > MaxRecordBytes:
		return modelio.Usagef("--max_record_bytes=%d: must be 1 byte to %s", d.Reading.MaxRecordBytes, humanize.IBytes(MaxRecordBytes))
	case d.Reading.MaxExpansion < 0 || d.Reading.MaxExpansion > MaxExpansion:
		return modelio.Usagef("--max_expansion_ratio=%d: must be 1 to %d", d.Reading.MaxExpansion, MaxExpansion)
	case a.NameBytes(d.Reading.MaxRecordBytes) > kernel.MaxNameBytes:
		return modelio.Usagef("--ngrams=%d,%d: the features of one document of --max_record_bytes=%d could exceed 2 GB%s; reduce either flag", least, most, d.Reading.MaxRecordBytes, growth(a))
	case d.MaxRejected.Text == "":
		return modelio.Usagef("--max_rejected: a number of lines or a percentage is required")
	case d.MaxClasses < 0 || d.MaxClasses > MaxClasses:
		return modelio.Usagef("--max_classes=%d: must be 1 to %d", d.MaxClasses, MaxClasses)
	case d.Shards < 1 || d.Shards > MaxShards:
		return modelio.Usagef("--shards=%d: must be 1 to %d", d.Shards, MaxShards)
	}
	if err := d.validateWeights(); err != nil {
		return err
	}
	return d.Tuning.Validate()
}

// growth says why the text of a document may become longer.
func growth(a kernel.Analyzer) string {
	if a.Normalize == kernel.NoForm && !a.StripAccents {
		return ""
	}
	return ", because --normalize and --strip_accents may replace one character by many"
}

// Validate returns an error if a field is negative.
func (t Tuning) Validate() error {
	if t.RangeBytes < 0 || t.Threads < 0 || t.MemoryBytes < 0 || t.BlockBytes < 0 {
		return modelio.Usagef("invalid tuning %+v: a number is negative", t)
	}
	return nil
}

// Validate does for a runner what [Documents.Validate] does for documents.
func (r Runner) Validate() error {
	if r.Endpoint != "" {
		host, port, err := net.SplitHostPort(r.Endpoint)
		if n, e := strconv.Atoi(port); err != nil || e != nil || host == "" || n < 1 || n > math.MaxUint16 {
			return modelio.Usagef("--endpoint=%s: must be HOST:PORT, such as localhost:8099", r.Endpoint)
		}
	}
	switch {
	case r.StallTimeout < 0:
		return modelio.Usagef("--stall_timeout=%v: must not be negative", r.StallTimeout)
	case r.Parallelism < 0:
		return modelio.Usagef("--parallelism=%d: must be at least 1", r.Parallelism)
	case r.Parallelism > 0 && r.Here():
		return modelio.Usagef("--parallelism=%d: is for Flink; a local run uses all cores", r.Parallelism)
	case r.Template != "" && !strings.HasPrefix(r.Template, "gs://"):
		return modelio.Usagef("--template_location=%s: must be a name such as gs://bucket/object", r.Template)
	case r.Endpoint != "" && r.Environment == "", !slices.Contains([]string{"", "PROCESS", "DOCKER", "LOOPBACK"}, r.Environment):
		return modelio.Usagef("--environment_type=%s: must be PROCESS, DOCKER or LOOPBACK", r.Environment)
	case r.Environment == "DOCKER" && r.Config == "":
		return modelio.Usagef("--environment_type=DOCKER requires --environment_config, the name of the image")
	case r.Environment == "PROCESS":
		if err := r.checkProcess(); err != nil {
			return modelio.Usagef("--environment_config=%s: %w", r.Config, err)
		}
	}
	return nil
}

// checkProcess checks the configuration of workers that are processes. The program can be looked up on this host only.
func (r Runner) checkProcess() error {
	var config struct {
		Command, OS, Arch string
		Env               map[string]string
	}
	decoder := json.NewDecoder(strings.NewReader(r.Config))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil || config.Command == "" {
		return errors.New(`must be JSON such as {"command":"/usr/local/bin/sparsenb"}`)
	}
	if !r.Here() {
		return nil
	}
	_, err := exec.LookPath(config.Command)
	return err
}
