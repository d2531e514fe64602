package docker

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sparsenb/sparsenb/internal/outside"
)

// compose is what our compose files use of the format.
type compose struct {
	Services map[string]service
	Volumes  map[string]struct{}
}

type service struct {
	Image, Hostname, User string
	Command, Entrypoint   []string
	Environment           map[string]string
	Volumes               []string
	Deploy                struct{ Replicas int }
	Healthcheck           struct {
		Test     []string
		Interval string
		Retries  int
	}
	DependsOn map[string]struct{ Condition string } `yaml:"depends_on"`
}

func readCompose(t *testing.T, name string) compose {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// mounts are the folders of a service by where they are seen.
func (s service) mounts() map[string]string {
	m := map[string]string{}
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		m[parts[1]] = parts[0]
	}
	return m
}

// Nobody but Docker Hub has the images; what can be had here is that the files are well formed, that their parts fit
// each other and the image, and that the command in them does the demo, with Prism in the place of Flink and Spark.
func TestCompose(t *testing.T) {
	conditions := []string{"service_started", "service_healthy", "service_completed_successfully"}
	public := regexp.MustCompile(`^\$\{[A-Z_]+:-[a-z0-9./_]+:[0-9][a-z0-9._-]+\}$`)
	for name, workers := range map[string]string{"compose.flink.yaml": "taskmanager", "compose.spark.yaml": "worker"} {
		t.Run(name, func(t *testing.T) {
			c := readCompose(t, name)
			for key, s := range c.Services {
				if key != "demo" && !public.MatchString(s.Image) {
					t.Errorf("%s: the image is %s, want a default with a version", key, s.Image)
				}
				for other, on := range s.DependsOn {
					if _, ok := c.Services[other]; !ok || !slices.Contains(conditions, on.Condition) {
						t.Errorf("%s depends on %s: %s", key, other, on.Condition)
					}
					if on.Condition == "service_healthy" && len(c.Services[other].Healthcheck.Test) == 0 {
						t.Errorf("%s: has no health check", other)
					}
				}
				for _, from := range s.mounts() {
					if from == "${JOB_SERVER_JAR}" {
						continue
					}
					if strings.HasPrefix(from, ".") {
						if _, err := os.Stat(from); err != nil {
							t.Error(err)
						}
					} else if _, ok := c.Volumes[from]; !ok {
						t.Errorf("%s: there is no volume %s", key, from)
					}
				}
				for _, arg := range s.Command {
					if _, host, ok := strings.Cut(arg, "-host="); ok && host != s.Hostname {
						t.Errorf("%s: %s, but it is called %s", key, arg, s.Hostname)
					}
				}
			}
			// The same program and the same folders at the same places in the command and the workers.
			command := c.Services["demo"]
			seen := command.mounts()
			if got := c.Services[workers].mounts(); len(seen) != 3 || !maps.Equal(got, seen) {
				t.Errorf("the workers see %v, the command %v", got, seen)
			}
			if dir := path.Dir(entrypoint(t)); seen[dir] != "program" {
				t.Errorf("no volume is at %s, where the image has the program", dir)
			}
			if !slices.Equal(c.Services["folder"].Entrypoint, []string{"chown", command.User, "/out"}) {
				t.Errorf("the folder is made for %v, the command is %s", c.Services["folder"].Entrypoint, command.User)
			}

			dir := t.TempDir()
			replace := strings.NewReplacer("/testdata/", filepath.Join(outside.Root(), "testdata")+"/", "/out/", dir+"/", "job-server:8099", jobServer(t))
			var args []string
			for _, arg := range command.Command {
				args = append(args, replace.Replace(arg))
			}
			run(t, nil, sparsenb(t), args...)
			checkSame(t, filepath.Join(dir, "federalist"), here(t))
		})
	}
}

// The compose files have the engines and the job servers that engines/ tests.
func TestComposeHasWhatIsTested(t *testing.T) {
	version := func(name, pattern string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(outside.Root(), "engines", name))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s does not say %s", name, pattern)
		}
		return string(m[1])
	}
	flink := version("requirements.txt", `apache-flink-libraries==([0-9.]+)`)
	spark := version("requirements.txt", `pyspark==([0-9.]+)`)
	minor := version("flink-job-server.xml", `beam-runners-flink-([0-9.]+)<`)
	beam := version("flink-job-server.xml", `<version>([0-9.]+)</version></dependency>`)
	for name, images := range map[string][]string{
		"compose.flink.yaml": {"flink:" + flink + "-", "apache/beam_flink" + minor + "_job_server:" + beam + "}"},
		"compose.spark.yaml": {"apache/spark:" + spark + "-"}, // the job server is the jar of the tests
	} {
		for key, s := range readCompose(t, name).Services {
			if key != "demo" && !slices.ContainsFunc(images, func(image string) bool { return strings.Contains(s.Image, ":-"+image) }) {
				t.Errorf("%s: %s is %s; tested are %v", name, key, s.Image, images)
			}
		}
	}
}

// entrypoint is the path of the program in the image.
func entrypoint(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^ENTRYPOINT \["([^"]+)"\]$`).FindSubmatch(text)
	if m == nil {
		t.Fatal("the Dockerfile has no entry point")
	}
	return string(m[1])
}
