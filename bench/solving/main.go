// Command solving measures the way from two vectors of counts to a selection, on one core: grouping, one k, and a path of
// 100 ks. It does so beside a bare pass over the vectors, and beside the paper's bisection in NumPy on the same counts, in
// alternating rounds of one run, and prints a table of medians.
//
//	go run ./bench/solving [-rounds 5] [-python python3]
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/sparsenb/sparsenb/solver"
)

var (
	rounds = flag.Int("rounds", 5, "how often everything is measured")
	python = flag.String("python", "python3", "a Python with NumPy, or - for none")
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	runtime.GOMAXPROCS(1)
	fmt.Println("| counts | step | CPU s | bare passes | NumPy's time / ours |")
	fmt.Println("|---|---|---|---|---|")
	zipf := instance{name: "12,000,000 words, Zipf", k: 120_000, path: true}
	zipf.positive, zipf.negative = zipfCounts(12_000_000)
	reals := instance{name: "1,000,000 pairs that differ", k: 10_000}
	reals.positive, reals.negative = realCounts(1_000_000)
	for _, in := range []instance{zipf, reals} {
		if err := in.measure(); err != nil {
			log.Fatal(err)
		}
	}
}

// zipfCounts are the counts of m words with a Zipf distribution in two classes. One is added
// to each, as smoothing does.
func zipfCounts(m int) (positive, negative []float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range m {
		mean := 0.2 * float64(m) / math.Pow(float64(i+1), 1.05)
		lean := math.Exp(0.5 * rng.NormFloat64())
		positive = append(positive, 1+math.Round(mean*lean*rng.ExpFloat64()))
		negative = append(negative, 1+math.Round(mean/lean*rng.ExpFloat64()))
	}
	return positive, negative
}

// realCounts are random counts; no pair occurs twice.
func realCounts(m int) (positive, negative []float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range m {
		positive = append(positive, rng.ExpFloat64()*math.Exp(rng.NormFloat64()))
		negative = append(negative, rng.ExpFloat64()*math.Exp(rng.NormFloat64()))
	}
	return positive, negative
}

type instance struct {
	name               string
	positive, negative []float64
	k                  int64
	path               bool
}

type step struct {
	name  string
	times []float64 // CPU seconds
}

func (in instance) measure() error {
	names := []string{"bare pass", "grouping", "one k", "grouping and one k", "grouping and 100 ks", "NumPy, one k"}
	steps := make([]step, len(names))
	for i, name := range names {
		steps[i].name = name
	}
	var bound, theirs float64
	var evaluations, passes, groupCount int
	for range *rounds {
		total := 0.0
		steps[0].time(func() {
			for i, a := range in.positive {
				total += a + in.negative[i]
			}
		})
		if total == 0 {
			return fmt.Errorf("%s: nothing was counted", in.name)
		}
		var groups []solver.Group
		var err error
		grouping := steps[1].time(func() { groups, err = solver.GroupFeatures(in.positive, in.negative) })
		if err != nil {
			return err
		}
		groupCount = len(groups)
		var r solver.Result
		one := steps[2].time(func() { r, err = solver.Solve(solver.Problem{Groups: groups, K: in.k}, solver.Settings{}) })
		if err != nil {
			return err
		}
		bound = r.UpperBound
		steps[3].times = append(steps[3].times, grouping+one)
		if in.path {
			evaluations, passes = 0, 0
			path := (&step{}).time(func() {
				for r, e := range solver.Path(solver.Problem{Groups: groups}, in.ks(), solver.Settings{}) {
					err = e
					evaluations, passes = evaluations+r.Evaluations, passes+r.Passes
				}
			})
			if err != nil {
				return err
			}
			steps[4].times = append(steps[4].times, grouping+path)
		}
		if *python == "-" {
			continue
		}
		seconds, b, err := in.numpy()
		if err != nil {
			return err
		}
		steps[5].times, theirs = append(steps[5].times, seconds), b
	}
	if theirs != 0 && math.Abs(bound-theirs) > 1e-9*bound {
		return fmt.Errorf("%s: NumPy's bound is %v, ours %v", in.name, theirs, bound)
	}
	name := fmt.Sprintf("%s, %d groups, k = %d", in.name, groupCount, in.k)
	for _, s := range steps {
		if len(s.times) == 0 {
			continue
		}
		ratio := ""
		if len(steps[5].times) > 0 && strings.Contains(s.name, "one k") {
			ratio = fmt.Sprintf("%.1f", steps[5].median()/s.median())
		}
		fmt.Printf("| %s | %s | %.4f | %.1f | %s |\n", name, s.name, s.median(), s.median()/steps[0].median(), ratio)
		name = ""
	}
	if in.path {
		fmt.Printf("| | of the 100 ks: %d evaluations, %d of them over all groups | | | |\n", evaluations, passes)
	}
	return nil
}

// ks are 100 from 10 to half of all.
func (in instance) ks() (ks []int64) {
	for i := range 100 {
		ks = append(ks, int64(10*math.Pow(float64(len(in.positive))/20, float64(i)/99)))
	}
	return ks
}

// numpy runs the bisection on the same counts.
func (in instance) numpy() (seconds, bound float64, err error) {
	dir, err := os.MkdirTemp("", "solving")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	files := []string{filepath.Join(dir, "positive"), filepath.Join(dir, "negative")}
	for i, counts := range [][]float64{in.positive, in.negative} {
		b := make([]byte, 0, 8*len(counts))
		for _, n := range counts {
			b = binary.NativeEndian.AppendUint64(b, math.Float64bits(n))
		}
		if err := os.WriteFile(files[i], b, 0o666); err != nil {
			return 0, 0, err
		}
	}
	c := exec.Command(*python, filepath.Join("bench", "solving", "bisection.py"), files[0], files[1], fmt.Sprint(in.k))
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	out, err := c.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, out)
	}
	_, err = fmt.Sscan(string(out), &seconds, &bound)
	return seconds, bound, err
}

// time measures do, and returns the seconds of CPU.
func (s *step) time(do func()) float64 {
	runtime.GC()
	start := cpu()
	do()
	seconds := cpu() - start
	s.times = append(s.times, seconds)
	return seconds
}

func (s step) median() float64 {
	return slices.Sorted(slices.Values(s.times))[len(s.times)/2]
}

// cpu returns the seconds of CPU that the process has taken.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
