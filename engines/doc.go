// Package engines tests the command on clusters of Flink and Spark, each with its Beam job server, as processes of this
// machine. "make engines" installs them, "make test-engines" runs the tests.
package engines
