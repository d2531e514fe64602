//go:build race

package pipeline

// raceDetector makes Prism five times as slow: it polls. Under it graphs run on the direct runner, and TestSameInputSameBytes
// on both; without it, in the same make test, all graphs run on both.
const raceDetector = true

// failingRunners run the jobs that fail. Beam's own worker has a race when it ends after an error (harness.go, v2.77.0), so
// Prism runs these jobs without the race detector only.
var failingRunners = map[string]Runner{"direct": {}}
