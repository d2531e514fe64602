// Package docker builds the container image and tests it, the Flex Template for Dataflow and the compose files for Flink
// and Spark. docs/containers.md says how to use them.
package docker
