package main

import (
	"context"
	"flag"
	"runtime"
	"runtime/debug"
)

var version = command{
	name:   "version",
	manual: "Usage: sparsenb version\n\nPrints the versions of sparsenb and of Go, and the platform.\n",
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

// versionString returns the version that the Go command stamped into the binary, or the commit it was built from.
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
