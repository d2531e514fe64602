package engines

import (
	"fmt"
	"path/filepath"
	"testing"
)

// spark is a standalone cluster with its job server, which is the driver of every job.
type spark struct {
	web       string // address of the master's page
	endpoint  string
	workers   []*process
	jobServer *process
}

// startSpark starts a master, workers of one core each, and a job server.
func startSpark(t *testing.T, workers int) *spark {
	t.Helper()
	home := filepath.Join(installed(t), "spark")
	ports := freePorts(t, 5+workers)
	scratch := t.TempDir()
	env := []string{"SPARK_HOME=" + home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS=" + scratch}
	class := filepath.Join(home, "bin", "spark-class")
	s := &spark{web: fmt.Sprintf("127.0.0.1:%d", ports[1]), endpoint: fmt.Sprintf("127.0.0.1:%d", ports[2])}
	master := start(t, "spark-master", env, class, "org.apache.spark.deploy.master.Master",
		"--host", "127.0.0.1", "--port", fmt.Sprint(ports[0]), "--webui-port", fmt.Sprint(ports[1]))
	url := fmt.Sprintf("spark://127.0.0.1:%d", ports[0])
	master.listens(t, ports[0])
	for i := range workers {
		s.workers = append(s.workers, start(t, fmt.Sprintf("spark-worker-%d", i), env, class, "org.apache.spark.deploy.worker.Worker",
			"--host", "127.0.0.1", "--cores", "1", "--memory", "2g", "--webui-port", fmt.Sprint(ports[5+i]), "--work-dir", t.TempDir(), url))
	}
	jar := filepath.Join(installed(t), "spark-job-server", "job-server.jar")
	args := append([]string{"-Xmx2g"}, openings...)
	args = append(args, "-Dspark.driver.host=127.0.0.1", "-Dspark.driver.bindAddress=127.0.0.1", "-Dspark.ui.enabled=false",
		"-Dspark.executor.memory=1500m", "-Dspark.executor.cores=1", fmt.Sprintf("-Dspark.cores.max=%d", workers),
		"-cp", filepath.Join(home, "jars", "*")+":"+jar, "org.apache.beam.runners.spark.SparkJobServerDriver",
		"--job-host=127.0.0.1", fmt.Sprintf("--job-port=%d", ports[2]), fmt.Sprintf("--artifact-port=%d", ports[3]),
		fmt.Sprintf("--expansion-port=%d", ports[4]), "--spark-master-url="+url, "--artifacts-dir="+scratch)
	s.jobServer = start(t, "spark-job-server", env, "java", args...)
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
	s.jobServer.listens(t, ports[2])
	return s
}

func (s *spark) flags() []string { return []string{"--runner=spark", "--endpoint=" + s.endpoint} }
