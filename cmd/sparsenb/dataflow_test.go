package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	dataflowapi "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sparsenb/sparsenb/internal/fakegcs"
)

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// The template of a Dataflow job is valid: it decodes strictly as a job of the API, its pipeline has only standard
// transforms and coders, and its worker is the given program.
func TestDataflowTemplate(t *testing.T) {
	server := fakegcs.Start(t, "b")
	federalistOn(t, server)
	worker := filepath.Join(t.TempDir(), "worker")
	program := []byte("a program for the workers")
	if err := os.WriteFile(worker, program, 0o777); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--input=gs://b/in/*", "--output=gs://b/out", "--k=5", "--runner=dataflow", "--project=p", "--region=europe-west1",
		"--staging_location=gs://b/staging", "--template_location=gs://b/tpl/job", "--worker_binary=" + worker,
	}
	said := run(t, 0, args...)
	if want := "sparsenb: wrote the template gs://b/tpl/job; it publishes to gs://b/out\n"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
	if _, ok := server.Get("b", "out/_STARTED.json"); ok {
		t.Error("the run was begun")
	}
	job, options := readTemplate(t, server)
	pool := job.Environment.WorkerPools[0]
	if job.ProjectId != "p" || job.Type != "JOB_TYPE_BATCH" || len(pool.Packages) != 1 || pool.Packages[0].Sha256 != hash(program) {
		t.Errorf("%+v", job)
	}
	model := staged(t, server, options.URL)
	if hash(model) != options.Hash {
		t.Error("the pipeline is not the one of the template")
	}
	var graph pipepb.Pipeline
	if err := proto.Unmarshal(model, &graph); err != nil {
		t.Fatal(err)
	}
	checkKnown(t, &graph)
	checkTransforms(t, graph.GetComponents())
	checkCoders(t, graph.GetComponents())
	checkEnvironments(t, server, graph.GetComponents(), program)
}

// templateOptions is the part of the template that names its pipeline.
type templateOptions struct {
	URL  string `json:"pipelineUrl"`
	Hash string `json:"pipelineProtoHash"`
}

func readTemplate(t *testing.T, server *fakegcs.Server) (dataflowapi.Job, templateOptions) {
	t.Helper()
	var job dataflowapi.Job
	decoder := json.NewDecoder(bytes.NewReader(staged(t, server, "gs://b/tpl/job")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&job); err != nil {
		t.Fatal(err)
	}
	var options struct{ Options templateOptions }
	if err := json.Unmarshal(job.Environment.SdkPipelineOptions, &options); err != nil {
		t.Fatal(err)
	}
	return job, options.Options
}

func staged(t *testing.T, server *fakegcs.Server, url string) []byte {
	t.Helper()
	name, ok := strings.CutPrefix(url, "gs://b/")
	content, found := server.Get("b", name)
	if !ok || !found {
		t.Fatalf("%s was not staged", url)
	}
	return content
}

// checkKnown checks that no message has unknown fields.
func checkKnown(t *testing.T, graph proto.Message) {
	err := protorange.Range(graph.ProtoReflect(), func(p protopath.Values) error {
		if m, ok := p.Index(-1).Value.Interface().(protoreflect.Message); ok && len(m.GetUnknown()) > 0 {
			t.Errorf("%v has unknown fields", p.Path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// standard returns the URNs of enumerations of the model.
func standard(enums protoreflect.EnumDescriptors) (urns []string) {
	for i := range enums.Len() {
		values := enums.Get(i).Values()
		for j := range values.Len() {
			options := values.Get(j).Options().(*descriptorpb.EnumValueOptions)
			urns = append(urns, proto.GetExtension(options, pipepb.E_BeamUrn).(string))
		}
	}
	return urns
}

// checkTransforms checks that every transform is standard or a composite.
func checkTransforms(t *testing.T, c *pipepb.Components) {
	known := standard((&pipepb.StandardPTransforms{}).ProtoReflect().Descriptor().Enums())
	dofns := 0
	for id, transform := range c.GetTransforms() {
		for _, sub := range transform.GetSubtransforms() {
			if c.GetTransforms()[sub] == nil {
				t.Errorf("%s has no part %s", id, sub)
			}
		}
		urn := transform.GetSpec().GetUrn()
		if urn == "" && len(transform.GetSubtransforms()) > 0 {
			continue
		}
		if !slices.Contains(known, urn) {
			t.Errorf("%s is a %q", transform.GetUniqueName(), urn)
		}
		for _, collections := range []map[string]string{transform.GetInputs(), transform.GetOutputs()} {
			for _, collection := range collections {
				if c.GetPcollections()[collection] == nil {
					t.Errorf("%s has no %s", id, collection)
				}
			}
		}
		if urn == "beam:transform:pardo:v1" {
			dofns++
			var payload pipepb.ParDoPayload
			if err := proto.Unmarshal(transform.GetSpec().GetPayload(), &payload); err != nil {
				t.Error(err)
			}
			checkKnown(t, &payload)
			if got := payload.GetDoFn().GetUrn(); !strings.HasPrefix(got, "beam:go:transform:") {
				t.Errorf("%s runs a %q", transform.GetUniqueName(), got)
			}
			if c.GetEnvironments()[transform.GetEnvironmentId()] == nil {
				t.Errorf("%s has no environment", transform.GetUniqueName())
			}
		}
	}
	if dofns < 6 {
		t.Errorf("%d DoFns", dofns)
	}
}

// checkCoders checks that every coder is standard, or one of Go within a length prefix, which runners need not know.
func checkCoders(t *testing.T, c *pipepb.Components) {
	known := standard((&pipepb.StandardCoders{}).ProtoReflect().Descriptor().Enums())
	for id, collection := range c.GetPcollections() {
		if c.GetCoders()[collection.GetCoderId()] == nil {
			t.Errorf("%s has no coder", id)
		}
	}
	inside := map[string]bool{}
	for _, coder := range c.GetCoders() {
		for _, component := range coder.GetComponentCoderIds() {
			if c.GetCoders()[component] == nil {
				t.Errorf("there is no coder %s", component)
			}
			if coder.GetSpec().GetUrn() == "beam:coder:length_prefix:v1" {
				inside[component] = true
			}
		}
	}
	for id, coder := range c.GetCoders() {
		if urn := coder.GetSpec().GetUrn(); !slices.Contains(known, urn) && !(strings.HasPrefix(urn, "beam:go:coder:") && inside[id]) {
			t.Errorf("coder %s is a %q", id, urn)
		}
	}
}

// checkEnvironments checks that the workers are containers that get the program.
func checkEnvironments(t *testing.T, server *fakegcs.Server, c *pipepb.Components, program []byte) {
	if len(c.GetEnvironments()) != 1 {
		t.Errorf("%d environments", len(c.GetEnvironments()))
	}
	for id, e := range c.GetEnvironments() {
		var image pipepb.DockerPayload
		if err := proto.Unmarshal(e.GetPayload(), &image); err != nil || e.GetUrn() != "beam:env:docker:v1" || image.GetContainerImage() == "" {
			t.Errorf("%s is a %s of %v, %v", id, e.GetUrn(), &image, err)
		}
		if len(e.GetDependencies()) != 1 {
			t.Fatalf("%s has %d dependencies", id, len(e.GetDependencies()))
		}
		d := e.GetDependencies()[0]
		var artifact pipepb.ArtifactUrlPayload
		if err := proto.Unmarshal(d.GetTypePayload(), &artifact); err != nil || d.GetTypeUrn() != "beam:artifact:type:url:v1" {
			t.Errorf("the worker is a %s, %v", d.GetTypeUrn(), err)
		}
		if content := staged(t, server, artifact.GetUrl()); artifact.GetSha256() != hash(content) || !bytes.Equal(content, program) {
			t.Errorf("the worker %s is another program", artifact.GetUrl())
		}
	}
}

func TestDataflowUsage(t *testing.T) {
	server := fakegcs.Start(t, "b")
	federalistOn(t, server)
	for want, args := range map[string][]string{
		"--runner=dataflow requires --staging_location=gs://bucket/folder":                        {"--output=gs://b/out"},
		"--template_location=job: must be a name such as gs://bucket/object":                      {"--output=gs://b/out", "--staging_location=gs://b/s", "--template_location=job"},
		"--output=out: Dataflow workers cannot write there; use a folder such as gs://bucket/out": {"--output=out", "--staging_location=gs://b/s"},
	} {
		said := run(t, 2, append(args, "--input=gs://b/in/*", "--k=5", "--runner=dataflow")...)
		if said != "sparsenb: "+want+"\n" {
			t.Errorf("%s, want %s", said, want)
		}
	}
	said := run(t, 1, "--input=gs://b/in/*", "--k=5", "--runner=DataflowRunner", "--output=gs://b/out", "--staging_location=gs://b/s", "--template_location=gs://b/tpl/job", "--worker_binary=none", "--project=p", "--region=r")
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "none") {
		t.Errorf("%s", said)
	}
}
