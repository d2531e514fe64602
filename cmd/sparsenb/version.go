package main

import (
	"context"
	"flag"
	"runtime"
	"runtime/debug"
)

var version = verb{
	name:     "version",
	synopsis: "prints the version",
	manual:   "Usage: sparsenb version\n\nPrints the version of the program and of what it is built with.\n",
	prepare: func(*flag.FlagSet) func(context.Context, []string) error {
		return func(_ context.Context, args []string) error {
			if err := noArguments(args); err != nil {
				return err
			}
			printf(stdout, "sparsenb %s %s %s/%s\n", versionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		}
	},
}

// versionString is the version that the Go command has stamped into the binary, or the commit it was built from.
func versionString() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
