//go:build !race

package pipeline

const raceDetector = false

var failingRunners = localRunners
