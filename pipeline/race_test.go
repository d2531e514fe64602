//go:build race

package pipeline

// raceDetector makes Prism five times as slow: it polls. Under it graphs run on the direct runner, and TestSameInputSameBytes
// on both; without it, in the same make test, all graphs run on both.
const raceDetector = true
