package engines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// BenchmarkEngines trains locally, on Flink and on Spark: on 2 MB, which is all fixed cost, on film reviews (332 MB) and on
// Zipf text (1 GB, 300,000 words). Engines have two workers of one slot each. Beside the time it reports what the engine
// says that it has moved between steps.
//
//	make bench-engines
func BenchmarkEngines(b *testing.B) {
	dir := b.TempDir()
	texts := []struct{ name, path string }{
		{"federalist", federalist},
		{"imdb10", makeText(b, dir, outside.Shared(b, "data/imdb/train.tsv.gz"), "332")},
		{"zipf1GB", makeText(b, dir, "none", "1000")},
	}
	run := func(b *testing.B, text string, flags []string, shuffled func(b *testing.B) int64) {
		args := with([]string{"--input=" + text, "--k=10"}, flags)
		publish(b, with(args, to(filepath.Join(b.TempDir(), "warm")))...)
		for b.Loop() {
			publish(b, with(args, to(filepath.Join(b.TempDir(), fmt.Sprint("out", b.Elapsed().Nanoseconds()))))...)
		}
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/job")
		b.ReportMetric(0, "ns/op")
		if shuffled != nil {
			b.ReportMetric(float64(shuffled(b))/1e6, "MB-shuffled")
		}
	}
	b.Run("local", func(b *testing.B) {
		for _, text := range texts {
			b.Run(text.name, func(b *testing.B) { run(b, text.path, nil, nil) })
		}
	})
	b.Run("flink", func(b *testing.B) {
		f := startFlink(b, 2, 0)
		for _, text := range texts {
			b.Run(text.name, func(b *testing.B) { run(b, text.path, f.flags(2), f.shuffled) })
		}
	})
	b.Run("spark", func(b *testing.B) {
		s := startSpark(b, 2)
		for _, text := range texts {
			b.Run(text.name, func(b *testing.B) {
				run(b, text.path, s.flags(), func(b *testing.B) int64 { return s.events(b).shuffled })
				for stage, hosts := range s.events(b).executors {
					b.Logf("stage %s ran on %v", stage, hosts)
				}
			})
		}
	})
}

// makeText makes the text of bench/counting.
func makeText(b *testing.B, dir, corpus, megabytes string) string {
	b.Helper()
	tool := filepath.Join(dir, "counting")
	build := exec.Command("go", "build", "-o", tool, "./bench/counting")
	build.Dir = outside.Root()
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	name := filepath.Join(dir, megabytes+".tsv")
	if out, err := exec.Command(tool, "-make", name, "-corpus", corpus, "-megabytes", megabytes).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return name
}

// shuffled is what the steps of the newest job have written to each other.
func (f *flink) shuffled(b *testing.B) (n int64) {
	job, err := f.newest()
	if err != nil {
		b.Fatal(err)
	}
	for _, v := range job.Vertices {
		n += v.Metrics.WriteBytes
	}
	return n
}

// sparkEvents is what the log of the newest application says.
type sparkEvents struct {
	shuffled  int64
	executors map[string]map[string]int // tasks by stage and executor
}

func (s *spark) events(b *testing.B) sparkEvents {
	b.Helper()
	logs, err := filepath.Glob(filepath.Join(s.scratch, "events", "*"))
	if err != nil || len(logs) == 0 {
		b.Fatalf("no events of Spark: %v", err)
	}
	newest := logs[0]
	for _, name := range logs { // named by the time of their start
		newest = max(newest, name)
	}
	f, err := os.Open(newest)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	e := sparkEvents{executors: map[string]map[string]int{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var event struct {
			Event   string
			StageID int `json:"Stage ID"`
			Info    struct {
				Executor string `json:"Executor ID"`
			} `json:"Task Info"`
			Metrics struct {
				Write struct {
					Bytes int64 `json:"Shuffle Bytes Written"`
				} `json:"Shuffle Write Metrics"`
			} `json:"Task Metrics"`
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || event.Event != "SparkListenerTaskEnd" {
			continue // of many kinds, and the last may be cut
		}
		e.shuffled += event.Metrics.Write.Bytes
		stage := fmt.Sprint(event.StageID)
		if e.executors[stage] == nil {
			e.executors[stage] = map[string]int{}
		}
		e.executors[stage][strings.TrimSpace(event.Info.Executor)]++
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return e
}
