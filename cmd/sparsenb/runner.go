package main

import (
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	// The runners register themselves, and with them their flags.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dot"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"

	"github.com/sparsenb/sparsenb/pipeline"
)

// runnerNames are the runners that Beam's --runner may name here.
var runnerNames = []string{"prism", "PrismRunner", "dataflow", "DataflowRunner", "flink", "FlinkRunner", "spark", "SparkRunner",
	"universal", "PortableRunner", "portable"}

// chooseRunner returns the runner that --runner names. What is called direct elsewhere is Prism here, which checks more
// and does not lose the work of goroutines.
func chooseRunner() (string, error) {
	name := *runners.Runner
	switch {
	case name == "" || name == "prism" || name == "PrismRunner":
		return pipeline.Prism, nil
	case name == "direct" || name == "DirectRunner":
		warn("--runner=%s is run by Prism, inside this process", name)
		return pipeline.Prism, nil
	case slices.Contains(runnerNames, name):
		return name, nil
	}
	return "", pipeline.Usagef("--runner=%s is not known%s; there are %s", name, didYouMean(name, runnerNames), strings.Join(runnerNames, ", "))
}
