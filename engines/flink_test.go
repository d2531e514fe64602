package engines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// openings are what Flink 1.16 and Spark 3.5 want of Java 17's modules.
var openings = []string{"@java17.options"}

// flink is a session cluster with its job server.
type flink struct {
	rest      string // address of the job manager's REST API
	endpoint  string // of the job server
	artifacts string // its other port
	managers  []*process
	jobServer *process
	jobLog    string // the job manager's log

	t          testing.TB // until whose end the cluster lives
	home, conf string
}

// startFlink starts a job manager, task managers of one slot each, and a job server. restarts is how often Flink may
// start a job again.
func startFlink(t testing.TB, taskManagers, restarts int) *flink {
	t.Helper()
	home := filepath.Join(installed(t), "flink")
	ports := freePorts(t, 6)
	scratch := t.TempDir()
	f := &flink{
		rest: fmt.Sprintf("127.0.0.1:%d", ports[1]), endpoint: fmt.Sprintf("127.0.0.1:%d", ports[3]), artifacts: fmt.Sprintf("127.0.0.1:%d", ports[4]),
		t: t, home: home, conf: t.TempDir(),
	}
	strategy := "restart-strategy: none"
	if restarts > 0 {
		strategy = fmt.Sprintf("restart-strategy: fixed-delay\nrestart-strategy.fixed-delay.attempts: %d\nrestart-strategy.fixed-delay.delay: 1 s", restarts)
	}
	conf := fmt.Sprintf(flinkConf, ports[0], ports[1], ports[2], taskManagers, scratch, strategy)
	if err := os.WriteFile(filepath.Join(f.conf, "flink-conf.yaml"), []byte(conf), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.conf, "log4j.properties"), []byte(log4j), 0o666); err != nil {
		t.Fatal(err)
	}
	manager := start(t, "flink-job-manager", nil, "java", f.java([]string{"-Xmx768m"},
		"org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", "--executionMode", "cluster")...)
	f.jobLog = manager.log
	for range taskManagers {
		f.addTaskManager()
	}
	jar := filepath.Join(installed(t), "flink-job-server", "job-server.jar")
	f.jobServer = start(t, "flink-job-server", nil, "java", append(append([]string{"-Xmx1g"}, openings...), "-jar", jar,
		"--job-host=127.0.0.1", fmt.Sprintf("--job-port=%d", ports[3]), fmt.Sprintf("--artifact-port=%d", ports[4]),
		fmt.Sprintf("--expansion-port=%d", ports[5]), "--flink-master="+f.rest, "--flink-conf-dir="+f.conf, "--artifacts-dir="+scratch)...)
	manager.listens(t, ports[1])
	f.waitForTaskManagers(t, taskManagers)
	f.jobServer.listens(t, ports[3])
	return f
}

func (f *flink) java(flags []string, class string, args ...string) []string {
	flags = append(flags, "-Dlog4j.configurationFile=file:"+filepath.Join(f.conf, "log4j.properties"))
	flags = append(flags, openings...)
	return append(append(flags, "-cp", filepath.Join(f.home, "lib", "*"), class, "--configDir", f.conf), args...)
}

func (f *flink) addTaskManager() {
	t := f.t
	t.Helper()
	// Flink's scripts compute the sizes of the parts of the memory before they start Java.
	out, err := exec.Command("java", "-cp", filepath.Join(f.home, "lib", "*")+":"+filepath.Join(f.home, "bin", "bash-java-utils.jar"),
		"org.apache.flink.runtime.util.bash.BashJavaUtils", "GET_TM_RESOURCE_PARAMS", "--configDir", f.conf).Output()
	if err != nil {
		t.Fatalf("asking Flink for the sizes of its memory: %v", err)
	}
	var sizes [][]string
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "BASH_JAVA_UTILS_EXEC_RESULT:"); ok {
			sizes = append(sizes, strings.Fields(rest))
		}
	}
	name := fmt.Sprintf("task-manager-%d", len(f.managers))
	args := append(sizes[1], "-D", "taskmanager.resource-id="+name)
	p := start(t, "flink-"+name, nil, "java", f.java(sizes[0], "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", args...)...)
	f.managers = append(f.managers, p)
}

func (f *flink) waitForTaskManagers(t testing.TB, n int) {
	t.Helper()
	eventually(t, "Flink's task managers", func() error {
		var overview struct{ TaskManagers int }
		if err := getJSON("http://"+f.rest+"/overview", &overview); err != nil {
			return err
		}
		if overview.TaskManagers != n {
			return fmt.Errorf("there are %d of %d", overview.TaskManagers, n)
		}
		return nil
	})
}

func (f *flink) flags(parallelism int) []string {
	return []string{"--runner=flink", "--endpoint=" + f.endpoint, fmt.Sprintf("--parallelism=%d", parallelism)}
}

const flinkConf = `
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: %d
jobmanager.bind-host: 127.0.0.1
jobmanager.memory.process.size: 1200m
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
web.refresh-interval: 100
rest.port: %d
blob.server.port: %d
parallelism.default: %d
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: 1
taskmanager.memory.process.size: 3072m
taskmanager.memory.task.off-heap.size: 800m
taskmanager.memory.jvm-metaspace.size: 500m
taskmanager.memory.managed.size: 512m
taskmanager.memory.network.min: 128m
taskmanager.memory.network.max: 128m
heartbeat.interval: 1000
heartbeat.timeout: 6000
io.tmp.dirs: %s
%s
`

const log4j = `
rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
appender.c.name=C
appender.c.type=CONSOLE
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d{HH:mm:ss,SSS} %-5p %c{1} - %m%n
`

// subtask is a part of a step of a job, as the job manager sees it.
type subtask struct {
	Subtask     int
	Status      string
	Attempt     int
	TaskManager string `json:"taskmanager-id"`
}

// job is one as the job manager sees it.
type job struct {
	url      string
	Vertices []struct {
		ID, Name string
		Metrics  struct {
			WriteBytes int64 `json:"write-bytes"`
		}
	}
}

// newest returns the job that was started last.
func (f *flink) newest() (j job, err error) {
	var overview struct {
		Jobs []struct {
			Jid   string
			Start int64 `json:"start-time"`
		}
	}
	if err := getJSON("http://"+f.rest+"/jobs/overview", &overview); err != nil {
		return j, err
	}
	if len(overview.Jobs) == 0 {
		return j, errors.New("there is no job")
	}
	last := overview.Jobs[0]
	for _, other := range overview.Jobs {
		if other.Start > last.Start {
			last = other
		}
	}
	j.url = "http://" + f.rest + "/jobs/" + last.Jid
	return j, getJSON(j.url, &j)
}

// subtasks returns those of the step of the newest job whose name contains step.
func (f *flink) subtasks(step string) ([]subtask, error) {
	j, err := f.newest()
	if err != nil {
		return nil, err
	}
	for _, v := range j.Vertices {
		if strings.Contains(v.Name, step) {
			var vertex struct{ Subtasks []subtask }
			err := getJSON(j.url+"/vertices/"+v.ID, &vertex)
			return vertex.Subtasks, err
		}
	}
	return nil, fmt.Errorf("no step is named %s", step)
}

// The steps of a training, by what Flink calls them.
const (
	mapStep    = "transforms.CountFeatures, transforms.SumTotals"
	mergeStep  = "]{transforms.MergeCounts"
	commitStep = "transforms.commitFn"
)

// whenRunning waits until the step runs and returns the task manager that runs a part of it.
func (f *flink) whenRunning(t testing.TB, step string) *process {
	t.Helper()
	var at *process
	poll(t, step, 20*time.Millisecond, func() error {
		list, err := f.subtasks(step)
		if err != nil {
			return err
		}
		for _, s := range list {
			if s.Status == "RUNNING" && s.Attempt == 0 {
				if at = f.manager(s.TaskManager); at != nil {
					return nil
				}
			}
		}
		return fmt.Errorf("%+v", list)
	})
	return at
}

func (f *flink) manager(id string) *process {
	for _, m := range f.managers {
		if strings.HasSuffix(m.name, id) {
			return m
		}
	}
	return nil
}

// attempts is how often the step was started, at most.
func (f *flink) attempts(t testing.TB, step string) (most int) {
	t.Helper()
	list, err := f.subtasks(step)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		most = max(most, s.Attempt+1)
	}
	return most
}

// idle reports whether no job runs.
func (f *flink) idle() error {
	var overview struct {
		Jobs []struct{ Jid, State string }
	}
	if err := getJSON("http://"+f.rest+"/jobs/overview", &overview); err != nil {
		return err
	}
	for _, j := range overview.Jobs {
		if j.State != "FINISHED" && j.State != "CANCELED" && j.State != "FAILED" {
			return fmt.Errorf("%s is %s", j.Jid, j.State)
		}
	}
	return nil
}
