# The targets for users: build, test, bench. CI runs "make test".

GO ?= go
PYTHON ?= python3
# Folder of the Python environment with the Parquet readers, one for each list of packages.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sparsenb
VENV = $(CACHE)/venv-$(shell cksum < testdata/requirements.txt | cut -d' ' -f1)
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0
FUZZTIME ?= 10s

.PHONY: build
build: ## the command, in bin/
	$(GO) build -o bin/sparsenb ./cmd/sparsenb

# The tests on Flink and Spark need a JDK, Maven and 1 GB. ENGINES=off skips them.
ENGINES ?= on
.PHONY: test
test: forget format vet staticcheck unit fuzz $(if $(filter off,$(ENGINES)),without-engines,test-engines) ## all tests; needs Go, Python, a JDK and Maven, and installs the rest
	@$(TESTED)

# Names the tests that ran and those that were skipped, for the last lines of make test.
LOG = $(CACHE)/tested.log
TESTED = $(GO) run ./internal/tested $(LOG)

.PHONY: forget without-engines
forget:
	@mkdir -p $(CACHE) && rm -f $(LOG)

without-engines:
	@printf 'skip the tests on Flink and Spark\tENGINES=off\n' >>$(LOG)

.PHONY: format
format:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "run gofmt on: $$unformatted"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: staticcheck
staticcheck:
	$(GO) run $(STATICCHECK) ./...

# The race detector is on, except for the test that kills a hundred processes: without it they are five times as fast.
# SPARSENB_REQUIRE makes tests fail instead of skip if Python is missing.
ENV = SPARSENB_PYTHON=$(VENV)/bin/python SPARSENB_REQUIRE=python,$(SPARSENB_REQUIRE)
.PHONY: unit
unit: $(VENV)/ready
	$(ENV) $(TESTED) $(GO) test -race -timeout 30m $$($(GO) list ./... | grep -v -e /cmd/ -e /docker -e /engines)
	$(ENV) $(TESTED) $(GO) test -timeout 30m ./pipeline # on Prism too, which is five times as slow with the race detector
	$(ENV) $(TESTED) $(GO) test -count=1 -timeout 30m ./docker # it tests programs, which the test cache does not track
	$(ENV) $(TESTED) $(GO) test -race -timeout 30m -short ./cmd/...
	$(ENV) $(TESTED) $(GO) test -timeout 30m -run 'TestKilled|TestStopped' ./cmd/...

# The name contains the checksum of the list, so a new list makes a new environment.
$(VENV)/ready:
	@command -v $(PYTHON) >/dev/null || { echo "make test needs Python 3 with venv, to test other Parquet readers; set PYTHON to its path"; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement testdata/requirements.txt
	touch $@

.PHONY: image
image: ## the container image sparsenb; BUILDER is docker or podman
	docker/build.sh sparsenb

# Without podman the tests of the image are skipped. They need neither a daemon nor a registry.
.PHONY: containers
containers: ## installs podman with apt, for the tests of the image
	@command -v podman >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends podman runc; }

# A short run of every fuzz test, from its seeds. Sometimes go test reports the end of the time as a failure; a finding has a
# failing input.
.PHONY: fuzz
fuzz:
	@set -e; for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(grep -h '^func Fuzz' $$package/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9]*\).*/\1/'); do \
			echo "fuzz $$package $$name"; \
			echo "fuzz $$name" >>$(LOG); \
			$(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package >$(CACHE)/fuzz.log 2>&1 || \
				{ grep -q 'context deadline exceeded' $(CACHE)/fuzz.log && ! grep -q 'Failing input' $(CACHE)/fuzz.log; } || \
				{ cat $(CACHE)/fuzz.log; exit 1; }; \
		done; \
	done

# Flink, Spark and their job servers, built once for each list of versions.
ENGINE_CACHE = $(CACHE)/engines-$(shell cat engines/install.sh engines/requirements.txt engines/*.xml | cksum | cut -d' ' -f1)

.PHONY: engines
engines: $(ENGINE_CACHE)/ready ## downloads Flink and Spark, for the tests

$(ENGINE_CACHE)/ready: | $(VENV)/ready
	rm -rf $(ENGINE_CACHE)
	engines/install.sh $(ENGINE_CACHE) $(VENV)/bin/pip

.PHONY: test-engines
test-engines: engines ## the tests on clusters of Flink and Spark
	$(ENV),engines SPARSENB_ENGINES=$(ENGINE_CACHE) $(TESTED) $(GO) test -count=1 -v -timeout 40m ./engines

# The Python environment of the tools that the benchmarks compare with.
BENCH_VENV = $(CACHE)/venv-bench-$(shell cksum < bench/requirements.txt | cut -d' ' -f1)
$(BENCH_VENV)/ready:
	rm -rf $(BENCH_VENV)
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet --disable-pip-version-check --requirement bench/requirements.txt
	touch $@

.PHONY: bench
bench: $(BENCH_VENV)/ready ## compares counting with a bare loop and other tools, from several formats, predictions and accuracy with other tools, and selection with NumPy; and runs the Go benchmarks
	$(GO) run ./bench/counting -python $(BENCH_VENV)/bin/python
	$(GO) run ./bench/reading -python $(BENCH_VENV)/bin/python
	$(GO) run ./bench/predicting -python $(BENCH_VENV)/bin/python
	$(GO) run ./bench/accuracy -python $(BENCH_VENV)/bin/python
	$(GO) run ./bench/solving -python $(BENCH_VENV)/bin/python
	$(GO) test -run "^$$" -bench . ./feature ./transforms/block ./transforms/kernel ./io/corpusio ./solver

.PHONY: bench-engines
bench-engines: engines ## compares Flink and Spark with a local run
	$(ENV),engines SPARSENB_ENGINES=$(ENGINE_CACHE) $(GO) test -timeout 2h -run '^$$' -bench Engines -benchtime 3x ./engines

.PHONY: audit
audit: ## known vulnerabilities and licenses; needs the Internet
	$(GO) run $(GOVULNCHECK) ./...
	$(GO) run github.com/google/go-licenses@v1.6.0 report ./cmd/sparsenb

.PHONY: update
update: ## rewrites golden outputs after an intended change
	SPARSENB_UPDATE=1 $(GO) test ./cmd/sparsenb -run TestReadme

.PHONY: help
help:
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'
