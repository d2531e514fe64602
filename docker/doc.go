// Package docker builds and tests the container image, the Flex Template for Dataflow, and the compose files for Flink and
// Spark. docs/containers.md explains how to use them.
package docker
