package main

import (
	"strings"
	"testing"
)

func TestFollow(t *testing.T) {
	const events = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestOne"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"=== RUN   TestOne\n"}
{"Action":"output","Package":"m/a","Test":"TestOne","Output":"--- PASS: TestOne (0.00s)\n"}
{"Action":"pass","Package":"m/a","Test":"TestOne/part"}
{"Action":"pass","Package":"m/a","Test":"TestOne"}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"=== RUN   TestTwo\n"}
{"Action":"output","Package":"m/a","Test":"TestTwo","Output":"    a_test.go:7: podman is not here: get it\n"}
{"Action":"skip","Package":"m/a","Test":"TestTwo"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
{"ImportPath":"m/c","Action":"build-output","Output":"c.go:1: wrong\n"}
{"Action":"output","Package":"m/b","Test":"TestThree","Output":"    b_test.go:9: broken\n"}
{"Action":"fail","Package":"m/b","Test":"TestThree"}
{"Action":"output","Package":"m/b","Output":"FAIL\tm/b\t0.1s\n"}
{"Action":"fail","Package":"m/b"}
`
	var show, log strings.Builder
	if err := follow(strings.NewReader(events), &show, &log, false); err != nil {
		t.Fatal(err)
	}
	if want := "ok  \tm/a\t0.1s\nc.go:1: wrong\n    b_test.go:9: broken\nFAIL\tm/b\t0.1s\n"; show.String() != want {
		t.Errorf("showed\n%swant\n%s", show.String(), want)
	}
	if want := "test TestOne\nskip TestTwo\tpodman is not here: get it\npackage m/a\ntest TestThree\npackage m/b\n"; log.String() != want {
		t.Errorf("logged\n%swant\n%s", log.String(), want)
	}
}

func TestSummary(t *testing.T) {
	const log = "test TestOne\npackage m/a\nskip TestB\tno podman\nskip TestA\tno podman\nskip TestA\tno podman\nfuzz FuzzX\ntest TestTwo\npackage m/b\nskip Flink and Spark\tENGINES=off\n"
	want := "ran 2 tests of 2 packages and 1 fuzz tests\nskipped Flink and Spark: ENGINES=off\nskipped TestA, TestB: no podman\n"
	if got := summary(log); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if got := summary("test TestOne\npackage m/a\n"); !strings.HasSuffix(got, "\nskipped nothing\n") {
		t.Errorf("%s", got)
	}
}
