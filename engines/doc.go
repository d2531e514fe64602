// Package engines runs the command on real clusters: Flink and Spark, each with its Beam job server, as processes of
// this machine. "make engines" gets them, "make test-engines" runs the tests.
package engines
