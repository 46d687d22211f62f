# `make` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
# Two builds at once would only wait for each other's locks.
.NOTPARALLEL:

MODULE := target/placement-guard.wasm
NOOP := target/noop-policy.wasm
# Where cargo leaves what is built for development. Always with `--workspace`, so that everything is compiled once.
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug
# Where these programs, whose compiler of modules is slow, keep what they compiled; `cargo test` has it from its settings.
export PLACEMENT_GUARD_COMPILED := $(CURDIR)/target/compiled-modules
SIZE_LIMIT := 600000
# Of the workspace: the first in the file.
VERSION := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
LOCKED := $(if $(wildcard Cargo.lock),--locked)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-19s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: module
module: ## Build the policy module, target/placement-guard.wasm, annotated for Kubewarden
	.ci/build-wasm placement-guard target/placement-guard.built.wasm
	.ci/shrink-wasm target/placement-guard.built.wasm target/placement-guard.plain.wasm
	cargo build --quiet $(LOCKED) --workspace --bin annotate
	$(BUILT)/annotate \
		--metadata metadata.yml --output $(MODULE) target/placement-guard.plain.wasm

.PHONY: build
build: ## Build the command line, target/release/placement-guard
	cargo build $(LOCKED) --release --package placement-guard-cli

.PHONY: cli
cli: ## Build the command line without `serve` and `--module`, for laptops: target/laptop/placement-guard
	cargo build $(LOCKED) --profile laptop --package placement-guard-cli --no-default-features

.PHONY: cli-test
cli-test: cli ## Test the command line without `serve` and `--module`
	.ci/cli-test

.PHONY: demo
demo: module ## Judge recorded requests with the built module, as a table
	cargo build --quiet $(LOCKED) --workspace --bin demo
	$(BUILT)/demo

.PHONY: test
test: module size ## All tests, natively and in wasmtime, of a module that is small enough
	.ci/need-registry
	cargo test $(LOCKED) --workspace
	$(MAKE) --no-print-directory npm-test

.PHONY: checked-module-test
checked-module-test: ## Run the cases and the broken requests in a module that checks its own invariants
	.ci/build-wasm placement-guard target/placement-guard.checked.wasm checked-module
	PLACEMENT_GUARD_MODULE=placement-guard.checked.wasm cargo test $(LOCKED) --workspace --test corpus --test hostile

.PHONY: npm
npm: ## Make the npm package, in target/npm
	.ci/build-wasm placement-guard-js target/placement-guard-js.wasm
	cargo build --quiet $(LOCKED) --workspace --bin npm-package
	$(BUILT)/npm-package target/placement-guard-js.wasm target/npm

.PHONY: page
page: npm ## Make the page that shows it, in target/page
	npm ci --prefix crates/js/page --ignore-scripts --no-audit --no-fund
	node crates/js/page/build.mjs

.PHONY: page-serve
page-serve: page ## Serve the page on loopback: PORT=8000
	node crates/js/page/serve.mjs $(or $(PORT),8000)

.PHONY: page-screenshots
page-screenshots: page ## Take pictures of the page for docs/screenshots; look at them
	.ci/need-node
	node crates/js/page/tests/screenshots.mjs

.PHONY: npm-test
npm-test: page ## Test the npm package and the page in Node, in TypeScript and in a browser
	.ci/need-node
	npm ci --prefix crates/js/tests --ignore-scripts --no-audit --no-fund
	cargo build --quiet $(LOCKED) --workspace --example answers
	$(BUILT)/examples/answers >target/npm-answers.json
	node --test --test-reporter=spec crates/js/tests/*.test.mjs crates/js/page/tests/*.test.mjs

.PHONY: cluster-test
cluster-test: module ## A real control plane with Gatekeeper, from their Go packages: twelve minutes the first time, then three
	.ci/cluster-test

.PHONY: cluster-bench
cluster-bench: module ## Measure what judging bindings costs the real scheduler, next to webhooks that accept at once
	.ci/cluster-test bench

.PHONY: compiled-once
compiled-once: ## Fail where the demo, the tests and the cluster tests do not share what cargo compiles
	cargo test $(LOCKED) --workspace --test compiled_once

.PHONY: lint
lint: ## Formatting, clippy without warnings and, where cargo-deny is installed, deny.toml
	cargo fmt --all --check
	cargo clippy --quiet $(LOCKED) --workspace --all-targets -- --deny warnings
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --workspace check; \
	else echo "cargo-deny is not installed: licences, sources and advisories were not checked"; fi

.PHONY: bless
bless: module ## Rewrite the golden files from what the module does now; review the difference
	BLESS=1 cargo test $(LOCKED) --workspace

.PHONY: bench
bench: module ## Measure: the algebra natively, an audit of 50,000 objects, and the module next to a no-op policy
	.ci/build-wasm noop-policy target/noop-policy.built.wasm
	.ci/shrink-wasm target/noop-policy.built.wasm $(NOOP)
	cargo bench $(LOCKED) --workspace --bench '*'

.PHONY: load
load: module ## Drive the server with Gatekeeper's own client, next to one that does nothing: REQUESTS=200000
	.ci/need-go
	go -C tests/cluster/gatekeeper build -o $(CURDIR)/target/cluster/gatekeeper-load ./load
	cargo run --quiet $(LOCKED) --release --package server --example load -- \
		target/cluster/gatekeeper-load $(or $(REQUESTS),200000)

.PHONY: cluster-memory
cluster-memory: ## Measure the memory that the server needs to hold 5,000 nodes and 50,000 pods, and how long it takes to list them
	cargo run --quiet $(LOCKED) --release --package server --example cluster_memory

.PHONY: rego-bench
rego-bench: ## Measure the templates on objects with many entries, in Gatekeeper's engine
	.ci/need-go
	go -C tests/cluster/gatekeeper build -o $(CURDIR)/target/cluster/gatekeeper-cases .
	target/cluster/gatekeeper-cases cost policies/gatekeeper/templates policies/gatekeeper/constraints

.PHONY: size
size: ## Print the module's size, and fail above 600,000 bytes
	@bytes=$$(wc -c <$(MODULE)); echo "$(MODULE): $$bytes bytes of at most $(SIZE_LIMIT)"; \
	if (( bytes > $(SIZE_LIMIT) )); then echo "the module is larger than it may be" >&2; exit 1; fi

.PHONY: push
push: ## Push the module: REGISTRY=HOST[/PATH], PUSH_OPTIONS=--insecure for plain HTTP on loopback
	@if [[ -z "$(REGISTRY)" ]]; then echo "push: say where to, as in make push REGISTRY=ghcr.io/you" >&2; exit 2; fi
	$(MAKE) --no-print-directory module
	cargo run --quiet $(LOCKED) --release --package placement-guard-cli -- \
		push $(MODULE) $(REGISTRY)/placement-guard:v$(VERSION) $(PUSH_OPTIONS)

.PHONY: linux
linux: ## Build the program for Linux without libraries, target/linux/*/placement-guard: x86-64 and arm64, where a linker is at hand
	@for architecture in amd64 arm64; do \
		code=0; .ci/build-linux $$architecture || code=$$?; \
		if (( code == 3 )); then echo "the program for $$architecture is left out" >&2; \
		elif (( code )); then exit $$code; fi; \
	done

.PHONY: image
image: module linux sbom ## Assemble the image of the server without a daemon, an OCI layout in target/image/
	cargo build --quiet $(LOCKED) --workspace --bin release
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(BUILT)/release image "$$(git rev-parse HEAD)"

.PHONY: image-test
image-test: ## Start the server in the image that `make image` assembled, and let it look up names and check certificates
	PLACEMENT_GUARD_LAYOUT=target/image cargo test $(LOCKED) --workspace --test image

.PHONY: push-image
push-image: ## Push the image that `make image` assembled: REGISTRY=HOST[/PATH], PUSH_OPTIONS=--insecure for plain HTTP on loopback
	@if [[ -z "$(REGISTRY)" ]]; then echo "push-image: say where to, as in make push-image REGISTRY=ghcr.io/you" >&2; exit 2; fi
	cargo build --quiet $(LOCKED) --workspace --bin placement-guard
	$(BUILT)/placement-guard push target/image $(REGISTRY)/provider:v$(VERSION) $(PUSH_OPTIONS)

.PHONY: release
release: ## Build everything that a release has from the tag of the version, in target/release-files/: half an hour
	.ci/release

.PHONY: exhaustive
exhaustive: ## Ask every small question, against an oracle: half an hour; EVERY=100 asks one in 100
	cargo run --quiet $(LOCKED) --profile proofs --package proofs -- exhaustive $(or $(EVERY),1)

.PHONY: second-opinion
second-opinion: ## Ask the solver z3 the same large questions, and compare: QUESTIONS=20000
	.ci/second-opinion $(or $(QUESTIONS),20000)

.PHONY: fuzz
fuzz: module ## Give random input to each target, and to the module, for so many minutes of the processor: MINUTES=5
	.ci/fuzz $(or $(MINUTES),5)

.PHONY: mutants
mutants: ## Change the code place by place; each change must fail a test: SHARD=0/8 for a part, LAYERS=logic for a layer
	.ci/mutants "$(or $(LAYERS),logic kubernetes rules)" $(SHARD)

.PHONY: worst
worst: ## Search for the slowest request of each rule, so many seconds each: SECONDS_EACH=60
	cargo run --quiet $(LOCKED) --release --package proofs -- worst $(or $(SECONDS_EACH),60) $(or $(SEED),1)

.PHONY: panics
panics: ## Fail unless the functions of the module that can panic are the reviewed ones
	.ci/panics

.PHONY: sbom
sbom: ## Write the bills of materials of the module and of the program, CycloneDX, to target/sbom/
	.ci/sbom

.PHONY: reproducible
reproducible: ## Build the module in two clones in two folders, and fail unless they are the same bytes
	.ci/reproducible

.PHONY: clean
clean: ## Remove everything that was built
	cargo clean
