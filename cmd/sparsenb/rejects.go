package main

import (
	"context"
	"flag"
	"strings"

	"github.com/sparsenb/sparsenb/io/fileio"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/pipeline"
	"github.com/sparsenb/sparsenb/transforms"
)

// rejectFlags define where rejected records are written.
type rejectFlags struct {
	output  *string
	samples *bool
}

func addRejectFlags(fs *flag.FlagSet) rejectFlags {
	return rejectFlags{
		output:  fs.String("rejects_output", "", "=DIR folder for rejected.parquet, which lists the malformed records: file, offset and reason. It is also written if the run fails because there are too many"),
		samples: fs.Bool("log_samples", false, " also write the first 1 KiB of each malformed record to --rejects_output"),
	}
}

// parse returns the flags. The folder must not be in the output folder of the run, which has the files of the run only.
func (f rejectFlags) parse(output string) (r transforms.Rejects, err error) {
	if *f.output == "" {
		if *f.samples {
			return r, modelio.Usagef("--log_samples requires --rejects_output, where it writes them")
		}
		return r, nil
	}
	if r.Output, err = fileio.Absolute(*f.output); err != nil {
		return r, modelio.Usagef("--rejects_output: %w", err)
	}
	run, err := fileio.Absolute(output)
	if err != nil {
		return r, &modelio.Error{Exit: modelio.ExitUsage, Err: err}
	}
	if strings.HasPrefix(fileio.Join(r.Output, ""), fileio.Join(run, "")) {
		return r, modelio.Usagef("--rejects_output=%s: must not be in --output, which is removed if the run fails", *f.output)
	}
	r.Samples = *f.samples
	return r, nil
}

// checkRejects fails before the job would: it may take hours.
func checkRejects(ctx context.Context, r transforms.Rejects, runner pipeline.Runner, run modelio.Run) error {
	if r.Output == "" {
		return nil
	}
	if runner.Beam == "dataflow" && !strings.HasPrefix(r.Output, "gs://") {
		return modelio.Usagef("--rejects_output=%s: Dataflow workers cannot write there; use a folder such as gs://bucket/rejects", r.Output)
	}
	return modelio.CheckRejected(ctx, r.Output, run)
}
