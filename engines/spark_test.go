package engines

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spark is a standalone cluster with its job server, which is the driver of every job.
type spark struct {
	web       string // address of the master's page
	endpoint  string
	workers   []*process
	jobServer *process

	t               testing.TB // until whose end the cluster lives
	home, url       string
	environment     []string
	scratch         string
	artifacts, jobs int // ports
	expansion       int
}

// startSpark starts a master, workers of one core each, and a job server.
func startSpark(t testing.TB, workers int) *spark {
	t.Helper()
	home := filepath.Join(installed(t), "spark")
	ports := freePorts(t, 5+workers)
	scratch := t.TempDir()
	env := []string{"SPARK_HOME=" + home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS=" + scratch}
	class := filepath.Join(home, "bin", "spark-class")
	s := &spark{
		web: fmt.Sprintf("127.0.0.1:%d", ports[1]), endpoint: fmt.Sprintf("127.0.0.1:%d", ports[2]),
		t: t, home: home, url: fmt.Sprintf("spark://127.0.0.1:%d", ports[0]), environment: env, scratch: scratch,
		jobs: ports[2], artifacts: ports[3], expansion: ports[4],
	}
	master := start(t, "spark-master", env, class, "org.apache.spark.deploy.master.Master",
		"--host", "127.0.0.1", "--port", fmt.Sprint(ports[0]), "--webui-port", fmt.Sprint(ports[1]))
	master.listens(t, ports[0])
	for i := range workers {
		s.workers = append(s.workers, start(t, fmt.Sprintf("spark-worker-%d", i), env, class, "org.apache.spark.deploy.worker.Worker",
			"--host", "127.0.0.1", "--cores", "1", "--memory", "2g", "--webui-port", fmt.Sprint(ports[5+i]), "--work-dir", t.TempDir(), s.url))
	}
	s.startJobServer()
	eventually(t, "Spark's workers", func() error {
		var state struct{ AliveWorkers int }
		if err := getJSON("http://"+s.web+"/json/", &state); err != nil {
			return err
		}
		if state.AliveWorkers != workers {
			return fmt.Errorf("there are %d of %d", state.AliveWorkers, workers)
		}
		return nil
	})
	return s
}

// startJobServer starts the job server, or another in its place.
func (s *spark) startJobServer() {
	s.t.Helper()
	jar := filepath.Join(installed(s.t), "spark-job-server", "job-server.jar")
	events := filepath.Join(s.scratch, "events")
	if err := os.MkdirAll(events, 0o777); err != nil {
		s.t.Fatal(err)
	}
	args := append([]string{"-Xmx2g"}, openings...)
	args = append(args, "-Dspark.driver.host=127.0.0.1", "-Dspark.driver.bindAddress=127.0.0.1", "-Dspark.ui.enabled=false",
		"-Dspark.eventLog.enabled=true", "-Dspark.eventLog.dir="+events,
		"-Dspark.executor.memory=1500m", "-Dspark.executor.cores=1", fmt.Sprintf("-Dspark.cores.max=%d", len(s.workers)),
		"-cp", filepath.Join(s.home, "jars", "*")+":"+jar, "org.apache.beam.runners.spark.SparkJobServerDriver",
		"--job-host=127.0.0.1", fmt.Sprintf("--job-port=%d", s.jobs), fmt.Sprintf("--artifact-port=%d", s.artifacts),
		fmt.Sprintf("--expansion-port=%d", s.expansion), "--spark-master-url="+s.url, "--artifacts-dir="+s.scratch)
	s.jobServer = start(s.t, "spark-job-server", s.environment, "java", args...)
	s.jobServer.listens(s.t, s.jobs)
}

func (s *spark) flags() []string { return []string{"--runner=spark", "--endpoint=" + s.endpoint} }

// executorsLost is how many executors the job server has seen go.
func (s *spark) executorsLost(t testing.TB) int { return s.said(t, "Lost executor") }

// tasksFailed is how many attempts of tasks the job server has seen fail.
func (s *spark) tasksFailed(t testing.TB) int { return s.said(t, "Lost task") }

// said is how often the job server has said something.
func (s *spark) said(t testing.TB, text string) int {
	t.Helper()
	log, err := os.ReadFile(s.jobServer.log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), text)
}
