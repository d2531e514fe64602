package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/sparsenb/sparsenb/internal/outside"
	"github.com/sparsenb/sparsenb/io/modelio"
	"github.com/sparsenb/sparsenb/verify"
)

// scratch is a folder of all the tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "sparsenb-docker"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, remove := range []func() error{removeImages, func() error { return os.RemoveAll(scratch) }} {
		if err := remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// run runs a program to its end, and wants it to succeed.
func run(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	out, err := output(t, env, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	}
	return out
}

func output(t *testing.T, env []string, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute) // the template is a cross build elsewhere than on amd64
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Dir = append(os.Environ(), env...), outside.Root()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

// binary is the program as it is in the image.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "bin", "sparsenb")
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/sparsenb")
	c.Env, c.Dir = append(os.Environ(), "CGO_ENABLED=0"), outside.Root()
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

func sparsenb(t *testing.T) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var federalist = filepath.Join(outside.Root(), "testdata", "federalist", "train.tsv")

// demo is what to do with the Federalist papers.
func demo(input, output string) []string {
	return []string{"--input=" + input, "--output=" + output, "--positive=Hamilton", "--k=10"}
}

// here are the checksums of the demo's files, from a run in one process of this machine.
func here(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "here")
	run(t, nil, sparsenb(t), demo(federalist, dir)...)
	return checksums(t, dir)
}

// checksums are those of the files of a published run, which are verified.
func checksums(t *testing.T, dir string) map[string]string {
	t.Helper()
	if _, err := verify.Run(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	m, err := modelio.ReadManifest(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range m.Files {
		sums[f.Name] = f.SHA256
	}
	return sums
}

func checkSame(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	if got := checksums(t, dir); !maps.Equal(got, want) {
		t.Errorf("%s: the files have checksums %v, want %v", dir, got, want)
	}
}

// image is a name of this process, so that tests do not meet.
var image = fmt.Sprintf("localhost/sparsenb-test-%d", os.Getpid())

// tags are the images that were built.
var tags []string

var build = sync.OnceValue(func() error { return buildImage("first") })

func buildImage(tag string) error {
	conf, err := containersConf("")
	if err != nil {
		return err
	}
	c := exec.Command("docker/build.sh", image+":"+tag, "--timestamp", "0", "--no-cache")
	c.Env, c.Dir = append(os.Environ(), "BUILDER=podman", conf), outside.Root()
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	tags = append(tags, image+":"+tag)
	return nil
}

func removeImages() error {
	if len(tags) == 0 {
		return nil
	}
	if out, err := exec.Command("podman", append([]string{"rmi", "--force"}, tags...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// containersConf is the setting of podman's configuration. The limits are what a sandbox may have set already; runc
// takes any layout of control groups, and crun does not.
func containersConf(volumes string) (string, error) {
	var engine string
	if _, err := exec.LookPath("runc"); err == nil {
		engine = "[engine]\nruntime = \"runc\"\n"
	}
	conf := fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\nvolumes = [%s]\n%s", volumes, engine)
	dir, err := os.MkdirTemp(scratch, "conf")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "containers.conf")
	return "CONTAINERS_CONF=" + name, os.WriteFile(name, []byte(conf), 0o666)
}

// built returns podman, after the image is built.
func built(t *testing.T) string {
	t.Helper()
	program := outside.Containers(t)
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return program
}

func podman(t *testing.T, args ...string) string {
	t.Helper()
	program := built(t)
	conf, err := containersConf("")
	if err != nil {
		t.Fatal(err)
	}
	return run(t, []string{conf}, program, args...)
}

// shared is a folder that the user of the image may write to, and which goes with the test.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(scratch, "shared")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 { // what a container wrote belongs to somebody else
		t.Cleanup(func() { _ = exec.Command("podman", "unshare", "rm", "-rf", dir).Run() })
	}
	return dir
}

func TestImageIsReproducible(t *testing.T) {
	inspect := func(tag string) string {
		return podman(t, "image", "inspect", "--format", "{{.Id}} {{.Digest}} {{.Size}}", image+":"+tag)
	}
	first := inspect("first")
	if err := buildImage("second"); err != nil {
		t.Fatal(err)
	}
	if second := inspect("second"); first != second {
		t.Errorf("built twice: %s and %s", first, second)
	}
	fields := strings.Fields(first)
	t.Logf("digest %s, %s bytes", fields[1], fields[2])
}

// The image has the program, a user, certificates and a folder for what is temporary, and nothing else.
func TestImageContents(t *testing.T) {
	container := strings.TrimSpace(podman(t, "create", "--network=none", image+":first"))
	defer podman(t, "rm", container)
	archive := filepath.Join(t.TempDir(), "image.tar")
	podman(t, "export", "--output", archive, container)
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var files []string
	for r := tar.NewReader(file); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg && header.Size > 0 { // podman adds empty ones
			files = append(files, header.Name)
		}
		switch strings.TrimSuffix(header.Name, "/") {
		case "tmp":
			if mode := header.FileInfo().Mode(); mode.Perm() != 0o777 || mode&os.ModeSticky == 0 {
				t.Errorf("/tmp: %v", mode)
			}
		case "etc/ssl/certs/ca-certificates.crt":
			bundle, err := io.ReadAll(r)
			if err != nil || !x509.NewCertPool().AppendCertsFromPEM(bundle) {
				t.Errorf("%s: %d bytes, no certificates (%v)", header.Name, len(bundle), err)
			}
		}
	}
	slices.Sort(files)
	want := []string{"etc/group", "etc/passwd", "etc/ssl/certs/ca-certificates.crt", "opt/sparsenb/sparsenb"}
	if !slices.Equal(files, want) {
		t.Errorf("the image has %q, want %q", files, want)
	}
}

func TestImageIsTheCommand(t *testing.T) {
	if got, want := podman(t, "run", "--rm", "--network=none", image+":first", "version"), run(t, nil, sparsenb(t), "version"); got != want {
		t.Errorf("in the image: %s, want %s", got, want)
	}
}

// The demo in a container gives the bytes of the demo outside, whoever runs it there, and that is never root.
func TestImageTrains(t *testing.T) {
	built(t)
	want := here(t)
	for name, flags := range map[string][]string{
		"as it is":      nil,
		"read only":     {"--read-only", "--read-only-tmpfs=false"},
		"somebody else": {"--user=12345:12345", "--passwd=false"}, // whom /etc/passwd does not know
	} {
		t.Run(name, func(t *testing.T) {
			dir := shared(t)
			args := append([]string{"run", "--rm", "--network=none", "--volume=" + federalist + ":/train.tsv:ro", "--volume=" + dir + ":/out"}, flags...)
			podman(t, append(append(args, image+":first"), demo("/train.tsv", "/out/federalist")...)...)
			checkSame(t, filepath.Join(dir, "federalist"), want)
			checkOwner(t, filepath.Join(dir, "federalist", modelio.SuccessFile))
		})
	}
}

// checkOwner wants a file not to be root's, nor of who runs the tests.
func checkOwner(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid == 0 || uid == os.Getuid() {
		t.Errorf("%s was written by user %d", name, uid)
	}
}

// Prism starts the image as a worker, through the API of Docker that podman serves.
func TestDockerEnvironment(t *testing.T) {
	program := built(t)
	want := here(t)
	dir := shared(t)
	socket := filepath.Join(dir, "podman.sock")
	// Beam's Docker environment mounts nothing; here podman does so for every container.
	conf, err := containersConf(fmt.Sprintf("%q, %q", federalist+":"+federalist+":ro", dir+":"+dir))
	if err != nil {
		t.Fatal(err)
	}
	serve(t, socket, conf, program)
	out := filepath.Join(dir, "federalist")
	args := append(demo(federalist, out), "--runner=prism", "--environment_type=DOCKER", "--environment_config="+image+":first")
	run(t, []string{"DOCKER_HOST=unix://" + socket}, sparsenb(t), args...)
	checkSame(t, out, want)
	// A worker in this process would have written as its user.
	checkOwner(t, filepath.Join(out, modelio.SuccessFile))
}

// serve has podman serve its API until the test ends.
func serve(t *testing.T, socket, conf, program string) {
	t.Helper()
	c := exec.Command(program, "system", "service", "--time=0", "unix://"+socket)
	c.Env = append(os.Environ(), conf)
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = c.Wait() // its exit code does not matter
		if t.Failed() {
			t.Logf("podman: %s", log.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.Dial("unix", socket)
		if err == nil {
			connection.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("podman does not serve: %v", err)
		}
	}
}

// An engine that starts workers as processes starts the same program. Prism does so, without an engine.
func TestProcessEnvironment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "process")
	run(t, nil, sparsenb(t), append(demo(federalist, dir), "--environment_type=PROCESS")...)
	checkSame(t, dir, here(t))
}

// jobServer is a job server of Prism's, at the address that is returned.
func jobServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := prism.CreateJobServer(t.Context(), prism.Options{Port: port}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("localhost:%d", port)
}
