# `make serve` builds and starts a server; `make test` is what to run before a commit; CI runs `make test` and then the rest of
# `make test-full`.
SHELL := /bin/bash
CARGO ?= cargo
SERVE ?=
BENCH ?=
ARGS ?= run -e "console.log('hello from a cell'); return 40 + 2"

.PHONY: help run serve dist test test-full test-rest specs specs-rest unit-rest deps test-deps gvisor microvm wasm-programs mcp-programs engine engine-end cgroup2 fmt lint unit doctest doc tidy gen bench bench-peers test262 deny
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: deps ## build the program and serve tools on 127.0.0.1:8282 (SERVE="--listen 127.0.0.1:9000" to choose)
	$(CARGO) build --locked --release -p bailiwick-cli
	@exec target/release/bailiwick serve $(SERVE)

run: deps ## build the program and run it (ARGS="policy explain ..." to choose)
	$(CARGO) run --locked --release -p bailiwick-cli -- $(ARGS)

# One copy of functions whose machine code is the same, where the linker is lld, as it is for this target.
DIST := CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-Clink-arg=-Wl,--icf=all" $(CARGO) build --locked --profile dist

dist: deps ## build the program for distribution: target/dist/bailiwick, small and optimised across crates
	$(DIST) -p bailiwick-cli
	@ls -l target/dist/bailiwick

# What `make test` installs here, and what a machine has to let it do: a test that needs one of these fails without it, and is not skipped.
# Somebody who sets the variable says which ones by themselves: `BAILIWICK_REQUIRE= make test` skips what cannot be had, and tells of it.
PARTS := root,userns,unshare,setpriv,node,ip,netns,schemathesis,mcp-node,mcp-python,python3,sandboxes,commands,overlayfs,git,curl,docker,dockerd,podman,gvisor,busybox,qemu,zig,wasi-python,wasm
ifeq ($(origin BAILIWICK_REQUIRE),undefined)
ifneq ($(shell [ "$$(id -u)" = 0 ] && command -v apt-get),)
unit unit-rest specs specs-rest: export BAILIWICK_REQUIRE := $(PARTS)
endif
endif

# The stages of a run: their times and the results of tests, for the summary at the end.
STAGES := target/stages
STAGE := .ci/stage run $(STAGES)

test: ## what to run before a commit: lints, all tests, and the cases of specs/ that need no slow backend
	@.ci/stage begin $(STAGES)
	@$(STAGE) deps $(MAKE) --no-print-directory test-deps
	@$(STAGE) lint $(MAKE) --no-print-directory lint
	@$(STAGE) build $(CARGO) test --locked --workspace --no-run --quiet
	@.ci/engine around $(ENGINE) $(MAKE) --no-print-directory --keep-going unit specs; code=$$?; .ci/stage end $(STAGES); exit $$code

test-full: ## everything: `test`, then every case on every backend, kill rounds, documentation
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-rest

test-rest: ## what test-full has beyond test
	@.ci/stage begin $(STAGES)
	@.ci/engine around $(ENGINE) $(MAKE) --no-print-directory --keep-going unit-rest specs-rest doctest-stage doc-stage; code=$$?; .ci/stage end $(STAGES); exit $$code

deps: ## install what building needs, or say what is missing
	@command -v $(CARGO) >/dev/null || { echo "Rust 1.95 or newer is needed: install it with rustup"; exit 1; }
	@if ! command -v cc >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends gcc libc6-dev; \
	  else echo "a C compiler is needed: install gcc"; exit 1; fi; fi

test-deps: deps ## install what testing needs beside that
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  need=""; command -v node >/dev/null || need="$$need nodejs"; command -v npm >/dev/null || need="$$need npm"; \
	  command -v unshare >/dev/null || need="$$need util-linux"; command -v setpriv >/dev/null || need="$$need util-linux"; \
	  command -v ip >/dev/null || need="$$need iproute2"; command -v curl >/dev/null || need="$$need curl"; command -v jq >/dev/null || need="$$need jq"; \
	  test -x /usr/bin/python3 || need="$$need python3"; command -v perl >/dev/null || need="$$need perl-base"; \
	  test -x /usr/bin/git || need="$$need git"; /usr/bin/python3 -m pip --version >/dev/null 2>&1 || need="$$need python3-pip"; \
	  command -v dockerd >/dev/null || need="$$need docker.io"; command -v docker >/dev/null || need="$$need docker.io"; command -v podman >/dev/null || need="$$need podman"; \
	  if [ -n "$$need" ]; then apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$need; fi; fi

	@$(MAKE) --no-print-directory gvisor microvm target/python/bin/schemathesis mcp-programs wasm-programs

# gVisor's runsc, and a static shell to put into an image. The runsc of bookworm cannot keep a sandbox, so there it comes from trixie, by
# the same mirror as everything else; a pin keeps everything else from coming along.
gvisor:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  test -x /usr/bin/busybox || test -x /bin/busybox || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends busybox-static; }; \
	  if ! command -v runsc >/dev/null || dpkg --compare-versions "$$(dpkg-query -W -f '$${Version}' runsc 2>/dev/null || echo 9)" lt 0.0~2024; then \
	    mirror=$$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null | \
	      sed -n -e 's/^URIs: *\([^ ]*\).*/\1/p' -e 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\).*/\2/p' | grep '/debian/*$$' | head -n 1); \
	    if [ -n "$$mirror" ]; then \
	      if [ "$$(. /etc/os-release && echo "$$VERSION_CODENAME")" = bookworm ]; then \
	        printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' "$$mirror" > /etc/apt/sources.list.d/bailiwick-runsc.sources; \
	        printf 'Package: *\nPin: release n=trixie\nPin-Priority: 100\n\nPackage: runsc\nPin: release n=trixie\nPin-Priority: 990\n' > /etc/apt/preferences.d/bailiwick-runsc; \
	      fi; \
	      apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends runsc; \
	    else echo "no Debian mirror is configured: sandboxes of gVisor are not tried"; fi; fi; fi

# QEMU, and a kernel for its machines: taken out of its package into this tree, since nothing on this machine boots from it. And a device
# by which machines of QEMU have virtual sockets as those of Firecracker do; it is where a confined program sees it.
microvm:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  if ! command -v qemu-system-x86_64 >/dev/null; then \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends qemu-system-x86; fi; \
	  if ! ls target/microvm/boot/vmlinuz-* >/dev/null 2>&1; then \
	    apt-get update -q; \
	    kernel=$$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)/\1/p' | head -n 1); \
	    if [ -n "$$kernel" ]; then \
	      rm -rf target/microvm && mkdir -p target/microvm && \
	      ( cd target/microvm && apt-get download -q "$$kernel" && dpkg-deb -x linux-image-*.deb . && rm -rf linux-image-*.deb usr ); \
	    else echo "no package linux-image-cloud-amd64: machines of their own are not tried"; fi; fi; fi
	@if [ "$$(id -u)" = 0 ] && [ -e /dev/kvm ] && [ ! -x /usr/local/bin/vhost-device-vsock ]; then \
	  if cargo install -q --locked --debug --root target/vsock --target-dir target/vsock/build vhost-device-vsock@0.3.0; then \
	    install -m 755 target/vsock/bin/vhost-device-vsock /usr/local/bin/ && rm -rf target/vsock; \
	  else echo "no vhost-device-vsock: machines behind virtual sockets are not tried"; fi; fi

# The program that tries the server against its own description.
target/python/bin/schemathesis:
	@if ! python3 -m venv --help >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3 python3-venv; fi
	@if python3 -m venv --help >/dev/null 2>&1; then \
	  rm -rf target/python && python3 -m venv target/python && target/python/bin/pip install -q --disable-pip-version-check schemathesis==4.32.5; \
	else echo "no python3 with venv: the server is not tried against its description"; fi

# Other people's MCP clients, and the suite that tries servers: exactly what the lock files say, into a folder of
# this tree, with no script of a package run. A copy of the lock file beside them tells what is installed.
MCP_LOCKS := crates/cli/tests/mcp/programs
mcp-programs:
	@if ! cmp -s $(MCP_LOCKS)/package-lock.json target/mcp/installed; then \
	  if command -v npm >/dev/null; then \
	    rm -rf target/mcp && mkdir -p target/mcp && cp $(MCP_LOCKS)/package.json $(MCP_LOCKS)/package-lock.json target/mcp/ && \
	    ( cd target/mcp && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error ) && \
	    cp $(MCP_LOCKS)/package-lock.json target/mcp/installed; \
	  else echo "no npm: the server is not tried by the MCP conformance suite, the inspector and the TypeScript clients"; fi; fi
	@if ! cmp -s $(MCP_LOCKS)/requirements.txt target/mcp-python/installed; then \
	  if python3 -m venv --help >/dev/null 2>&1; then \
	    rm -rf target/mcp-python && python3 -m venv target/mcp-python && \
	    target/mcp-python/bin/pip install -q --disable-pip-version-check --no-deps -r $(MCP_LOCKS)/requirements.txt && \
	    cp $(MCP_LOCKS)/requirements.txt target/mcp-python/installed; \
	  else echo "no python3 with venv: the server is not tried by the Python MCP client"; fi; fi

# A compiler from C to WebAssembly, and a Python in it, in the same way.
WASM_LOCKS := crates/sandbox-wasm/tests/programs
wasm-programs:
	@if ! cat $(WASM_LOCKS)/requirements.txt $(WASM_LOCKS)/package-lock.json | cmp -s - target/wasi/installed; then \
	  if python3 -m venv --help >/dev/null 2>&1 && command -v npm >/dev/null; then \
	    rm -rf target/wasi && python3 -m venv target/wasi && \
	    target/wasi/bin/pip install -q --disable-pip-version-check --no-deps --no-compile -r $(WASM_LOCKS)/requirements.txt && \
	    cp $(WASM_LOCKS)/package.json $(WASM_LOCKS)/package-lock.json target/wasi/ && \
	    ( cd target/wasi && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error ) && \
	    cat $(WASM_LOCKS)/requirements.txt $(WASM_LOCKS)/package-lock.json > target/wasi/installed; \
	  else echo "no python3 with venv, or no npm: the backend wasm is not tried with C and Python"; fi; fi

# A Docker of the tests' own, if this machine can: its socket, its data and its processes are in this folder, and nothing of another
# Docker is touched. `unit` starts and ends it by itself; these two are for whoever runs single tests.
ENGINE := target/engine
engine: ## start a Docker for the tests
	@.ci/engine start $(ENGINE)

engine-end: ## end the Docker of the tests
	@.ci/engine end $(ENGINE)

cgroup2: ## run limits and escapes of commands on cgroup v2, in an emulated machine (CASES="limits/fork-bomb" to choose)
	$(CARGO) build --locked --quiet -p bailiwick-cli
	@.ci/cgroup2 target/debug/bailiwick target/cgroup2 $(CASES)

fmt: ## format the code
	$(CARGO) fmt --all

lint: ## formatting and clippy, warnings denied
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# The tests of Rust. With nextest where it is installed; cargo's own runner runs all of them in any case.
ifneq ($(shell $(CARGO) nextest --version 2>/dev/null),)
NEXTEST = $(CARGO) nextest run --locked --workspace --profile $(1) && cp target/nextest/$(1)/junit.xml $(STAGES)/$(1).xml
else
NEXTEST = $(if $(filter default,$(1)),$(CARGO) test --locked --workspace --lib --bins --tests,true)
endif

unit: ## the tests of Rust
	@mkdir -p $(STAGES)
	@$(STAGE) tests $(MAKE) --no-print-directory unit-default
unit-rest: ## the tests of Rust that only test-full runs
	@mkdir -p $(STAGES)
	@$(STAGE) tests-rest $(MAKE) --no-print-directory unit-rest-only
unit-default:
	@$(call NEXTEST,default)
unit-rest-only:
	@$(call NEXTEST,rest)

# Every case of specs/ is a test; `make specs CASES=matrix::gvisor::escape` runs those of one backend and area.
CASES ?=
SPECS = BAILIWICK_JUNIT=$(CURDIR)/$(STAGES) $(CARGO) test --locked --quiet --workspace --test specs --test leases -- $(CASES)
specs: ## the cases of specs/
	@mkdir -p $(STAGES)
	@BAILIWICK_SUITE=quick $(STAGE) specs $(SHELL) -c '$(SPECS)'
specs-rest: ## the cases of specs/ that only test-full runs
	@mkdir -p $(STAGES)
	@BAILIWICK_SUITE=rest $(STAGE) specs-rest $(SHELL) -c '$(SPECS)'

doctest: ## the examples in the documentation comments
	$(CARGO) test --locked --workspace --doc

doc: ## the API documentation, warnings denied
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --quiet

doctest-stage:
	@$(STAGE) doctest $(MAKE) --no-print-directory doctest
doc-stage:
	@$(STAGE) doc $(MAKE) --no-print-directory doc

tidy: ## the invariants of the tree, and whether generated files are current
	$(CARGO) run --locked --quiet -p xtask -- tidy
	$(CARGO) run --locked --quiet -p xtask -- gen --check

gen: ## write the generated documents again
	$(CARGO) run --locked --quiet -p xtask -- gen
	$(CARGO) test --locked --quiet -p bailiwick-http --test it -- --write-document

bench: ## the figures of docs/figures.md, measured here; peers too if bench-peers installed them (BENCH="--only wall" to choose)
	$(CARGO) bench --locked -p bailiwick-policy --bench resolve
	$(CARGO) bench --locked -p bailiwick-redact --bench redaction
	$(DIST) -p bailiwick-cli -p bailiwick-bench
	target/dist/bailiwick-bench $$(test -d target/peers/node_modules && echo --peers target/peers) $(BENCH)

bench-peers: ## install isolated-vm, quickjs-emscripten, bun and deno from npm, FastMCP from PyPI, bubblewrap, to be measured beside us
	mkdir -p target/peers
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && ! command -v bwrap >/dev/null; then \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends bubblewrap; fi
	@# An MCP server of Python, for the figures of `tools/call`.
	python3 -m venv --clear target/peers/python && target/peers/python/bin/pip install -q --disable-pip-version-check fastmcp==4.1.2
	cd target/peers && npm install --no-audit --no-fund isolated-vm@5 quickjs-emscripten bun deno
	@# Newer versions of npm build nothing that was not approved; older ones do not know the word.
	cd target/peers && { npm install-scripts approve isolated-vm bun deno || true; } && npm rebuild

test262: ## run a checkout of test262 (TEST262=path), each test in a cell: pass counts by folder
	@test -n "$(TEST262)" || { echo "give the path of a checkout: make test262 TEST262=path"; exit 2; }
	$(CARGO) run --locked --release --quiet -p bailiwick --example test262 -- "$(TEST262)" $(ONLY)

deny: ## licences, bans and sources of all dependencies (needs cargo-deny)
	$(CARGO) deny --locked check licenses bans sources
