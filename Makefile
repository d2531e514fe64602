# The targets that a user needs: build, test, bench. "make test" is what CI runs.

GO ?= go
PYTHON ?= python3
# Where a Python with the readers of Parquet is built, once for each list of packages.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sparsenb
VENV = $(CACHE)/venv-$(shell cksum < testdata/requirements.txt | cut -d' ' -f1)
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.8.0
FUZZTIME ?= 10s

.PHONY: build
build: ## the command, in bin/
	$(GO) build -o bin/sparsenb ./cmd/sparsenb

# The tests on Flink and Spark need a JDK, Maven and 1 GB. ENGINES=off leaves them out.
ENGINES ?= on
.PHONY: test
test: forget format vet staticcheck unit fuzz $(if $(filter off,$(ENGINES)),without-engines,test-engines) ## all the tests; installs what they need beside Go, Python, a JDK and Maven
	@$(TESTED)

# What ran and what was skipped, for the last lines of make test.
LOG = $(CACHE)/tested.log
TESTED = $(GO) run ./internal/tested $(LOG)

.PHONY: forget without-engines
forget:
	@mkdir -p $(CACHE) && rm -f $(LOG)

without-engines:
	@printf 'skip the tests on Flink and Spark\tENGINES=off\n' >>$(LOG)

.PHONY: format
format:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt these: $$unformatted"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: staticcheck
staticcheck:
	$(GO) run $(STATICCHECK) ./...

# The race detector is on. A test that kills a hundred processes does so without it, where they are five times as fast.
# SPARSENB_REQUIRE makes a test that cannot find its Python fail, where it would skip.
ENV = SPARSENB_PYTHON=$(VENV)/bin/python SPARSENB_REQUIRE=python,$(SPARSENB_REQUIRE)
.PHONY: unit
unit: $(VENV)/ready
	$(ENV) $(TESTED) $(GO) test -race -timeout 30m $$($(GO) list ./... | grep -v -e /cmd/ -e /docker -e /engines)
	$(ENV) $(TESTED) $(GO) test -timeout 30m ./pipeline # on Prism too, which the race detector makes five times as slow
	$(ENV) $(TESTED) $(GO) test -count=1 -timeout 30m ./docker # it tests programs, of which the cache does not know
	$(ENV) $(TESTED) $(GO) test -race -timeout 30m -short ./cmd/...
	$(ENV) $(TESTED) $(GO) test -timeout 30m -run 'TestKilled|TestStopped' ./cmd/...

# Its name holds the checksum of the list, so that a new list makes a new one.
$(VENV)/ready:
	@command -v $(PYTHON) >/dev/null || { echo "make test needs Python 3 with venv, to read the Parquet files as others do; PYTHON names one"; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --requirement testdata/requirements.txt
	touch $@

.PHONY: image
image: ## the container image sparsenb; BUILDER is docker or podman
	docker/build.sh sparsenb

# The tests of the image skip where podman is missing. It needs no engine that runs, and no registry.
.PHONY: containers
containers: ## podman, by apt, for the tests of the image
	@command -v podman >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends podman runc; }

# A short run of every fuzz test, from its seeds.
.PHONY: fuzz
fuzz:
	@set -e; for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(grep -h '^func Fuzz' $$package/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9]*\).*/\1/'); do \
			echo "fuzz $$package $$name"; \
			echo "fuzz $$name" >>$(LOG); \
			$(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package >$(CACHE)/fuzz.log 2>&1 || { cat $(CACHE)/fuzz.log; exit 1; }; \
		done; \
	done

# Flink, Spark and their job servers, built once for each list of what they are.
ENGINE_CACHE = $(CACHE)/engines-$(shell cat engines/install.sh engines/requirements.txt engines/*.xml | cksum | cut -d' ' -f1)

.PHONY: engines
engines: $(ENGINE_CACHE)/ready ## gets Flink and Spark, for the tests

$(ENGINE_CACHE)/ready: | $(VENV)/ready
	rm -rf $(ENGINE_CACHE)
	engines/install.sh $(ENGINE_CACHE) $(VENV)/bin/pip

.PHONY: test-engines
test-engines: engines ## the tests on real clusters of Flink and Spark
	$(ENV),engines SPARSENB_ENGINES=$(ENGINE_CACHE) $(TESTED) $(GO) test -count=1 -v -timeout 40m ./engines

# What the benchmarks compare with has a Python of its own.
BENCH_VENV = $(CACHE)/venv-bench-$(shell cksum < bench/requirements.txt | cut -d' ' -f1)
$(BENCH_VENV)/ready:
	rm -rf $(BENCH_VENV)
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install --quiet --disable-pip-version-check --requirement bench/requirements.txt
	touch $@

.PHONY: bench
bench: $(BENCH_VENV)/ready ## documents to counts, beside a bare loop and other tools; counts to a selection, beside NumPy; and the Go benchmarks
	$(GO) run ./bench/counting -python $(BENCH_VENV)/bin/python
	$(GO) run ./bench/solving -python $(BENCH_VENV)/bin/python
	$(GO) test -run "^$$" -bench . ./feature ./transforms/block ./transforms/kernel ./io/corpusio ./solver

.PHONY: bench-engines
bench-engines: engines ## Flink and Spark beside a local run
	$(ENV),engines SPARSENB_ENGINES=$(ENGINE_CACHE) $(GO) test -timeout 2h -run '^$$' -bench Engines -benchtime 3x ./engines

.PHONY: audit
audit: ## known vulnerabilities and licenses; needs the Internet
	$(GO) run $(GOVULNCHECK) ./...
	$(GO) run github.com/google/go-licenses@v1.6.0 report ./cmd/sparsenb

.PHONY: update
update: ## rewrites golden outputs after a change that is meant
	SPARSENB_UPDATE=1 $(GO) test ./cmd/sparsenb -run TestReadme

.PHONY: help
help:
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'
