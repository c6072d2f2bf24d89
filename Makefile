# Portico. Installs everything that a fresh machine needs, except Rust (from rustup), a C compiler and Node.
.DEFAULT_GOAL := help

# Where cargo puts what it builds.
target_dir := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help build run test test-all built-tests soak bench bench-scale record-contract contract-package contract-docs wrk lint target component hostile nextest packages swagger-ui bench-embed clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# With --workspace, `make test` after it compiles no dependency a second time. The first time, cargo itself
# builds the component (host/sandbox/build.rs) alongside the crates that do not need it.
run: $(if $(wildcard dist/portico.wasm),component) ## build quickly and serve on 127.0.0.1:7575 with the data in ./data; make build is for speed
	cargo build --workspace --bin portico
	$(target_dir)/debug/portico serve --listen 127.0.0.1:7575 --data data

build: component ## build target/release/portico and dist/portico.wasm
	cargo build --release --bin portico

# The component is the same to the byte wherever it is built (contract/tests/reproducible.rs). Panic messages contain
# paths: those below the workspace are relative, and those of dependencies are remapped. RUSTFLAGS is for the host: it
# would replace the flags in .cargo/config.toml.
remap := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo

component: target ## build dist/portico.wasm
	env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS cargo build --package portico-component --target wasm32-wasip2 --profile component \
		--config 'target.wasm32-wasip2.rustflags=["$(remap)"]'
	@mkdir -p dist
	@cmp -s $(target_dir)/wasm32-wasip2/component/portico_component.wasm dist/portico.wasm || \
		cp $(target_dir)/wasm32-wasip2/component/portico_component.wasm dist/portico.wasm

hostile: target # a misbehaving component, for the tests of the sandbox
	cargo build --package portico-hostile --target wasm32-wasip2 --profile component

target: # installs the Rust target for which the component is compiled
	@rustup target list --installed | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2

nextest:
	@cargo nextest --version >/dev/null 2>&1 || cargo install --locked --debug cargo-nextest

# The tests that need a server of PostgreSQL go by their names: one that starts a server without such a name
# fails (tests/support/postgresql.rs). Those that take minutes, or need other programs too, are left to `make test-all`.
postgresql_tests := test(postgresql) | binary_id(portico-postgres::database)
long_postgresql_tests := test(postgresql_failover::) | test(postgresql_cut::) | test(durability::) | test(same_answers::) | test(faults::) | test(embedding::)
# Where Debian's packages keep the server's programs.
with_postgresql = PATH="$$PATH:$(lastword $(wildcard /usr/lib/postgresql/*/bin))"

test: built-tests ## every test that needs no other programs but PostgreSQL, where it is found; says how many ran
	cargo nextest run --workspace --no-fail-fast
	@if $(with_postgresql) command -v initdb >/dev/null; then \
		cargo nextest run --workspace --no-fail-fast --run-ignored only --no-tests fail \
			-E '($(postgresql_tests)) - ($(long_postgresql_tests))' && \
		echo 'These ran on PostgreSQL. make test-all also runs, on PostgreSQL: $(long_postgresql_tests)'; \
	else \
		left_out=$$(cargo nextest list --workspace --run-ignored only --message-format oneline \
			-E '$(postgresql_tests)' 2>/dev/null | wc -l); \
		echo "LEFT OUT: $$left_out tests that need PostgreSQL, because its program initdb was not found."; \
		echo 'make test-all installs it and leaves nothing out.'; \
	fi

test-all: built-tests packages target/python/installed ## what CI runs: also all tests that need other programs or much time
	cargo nextest run --workspace --no-fail-fast --run-ignored all

built-tests: component hostile nextest # also runs the examples in comments
	cargo build --workspace --bin portico --bin rust-dashboard --tests
	cargo test --quiet --workspace --doc

packages: # installs programs for the tests, from Debian's packages
	@tests/install.sh chromium chromium
	@PATH="$$PATH:/usr/sbin" tests/install.sh slapd slapd
	@tests/install.sh ldapmodify ldap-utils
	@tests/install.sh openssl openssl
	@$(with_postgresql) tests/install.sh initdb postgresql
	@tests/install.sh fail2ban-regex fail2ban
	@PATH="$$PATH:/usr/sbin" tests/install.sh haproxy haproxy
	@PATH="$$PATH:/usr/sbin" tests/install.sh pgbouncer pgbouncer
	@python3 -c 'import ensurepip' 2>/dev/null || tests/install.sh python3-venv python3-venv

# Python packages for tests and examples, in the versions that the files name.
requirements := $(wildcard tests/*/requirements.txt examples/*/requirements.txt)

target/python/installed: $(requirements)
	python3 -m venv --clear target/python
	target/python/bin/pip install --quiet --disable-pip-version-check $(addprefix --requirement ,$(requirements))
	@touch $@

ROUNDS ?= 500
soak: component packages nextest ## kill and restart services, servers and connections under load, and compare drivers, for longer: make soak ROUNDS=500
	cargo build --workspace --bin portico
	PORTICO_TEST_ROUNDS=$(ROUNDS) cargo nextest run --profile soak --workspace --test server --test library --no-capture \
		--run-ignored all -E 'test(same_answers::) | test(random_writes) | test(postgresql_failover::losses::) | test(postgresql_failover::races::) | test(under_load_no_cut) | test(restarts::) | test(behind_a_pooler)'

bench: build wrk ## measure speed against the same work without a component; ROWS=by-id,create for some rows
	cargo build --release --package portico-bench
	$(target_dir)/release/bench --rows "$(ROWS)"

bench-scale: build ## time requests with 1,000, 100,000 and 1,000,000 apps and users, on both drivers; SCALE=--quick tries it
	cargo build --release --package portico-bench
	$(target_dir)/release/bench scale $(SCALE)

record-contract: component ## record the contract and the component of this version
	cargo run --quiet --package portico-contract -- record

contract-package: ## write the contract as one file for other tools, dist/portico-dashboard.wasm
	cargo run --quiet --package portico-contract -- package

contract-docs: ## generate docs/contract.md from the comments in wit/
	cargo run --quiet --package portico-contract -- docs

ADAPTERS ?= portico rust_dashboard node_dashboard python_dashboard
bench-embed: build wrk target/python/installed ## compare calls per second of the examples and of Portico's own host, in one run
	cargo build --release --package rust-dashboard
	cd examples/node-dashboard && npm ci --silent && npm run --silent build
	cd tests/clients/embedding && node speed.mjs 5 $(ADAPTERS)

wrk: # installs the load generator
	@tests/install.sh wrk wrk

lint: component ## check formatting, clippy, and the libraries' documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo check --quiet --package portico-sql --target wasm32-wasip2
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace

swagger-ui: ## update the viewer at /api/docs: make swagger-ui VERSION=5.35.0
	host/http/assets/swagger-ui/renew.sh $(VERSION)

clean: ## remove everything that was built; ./data stays
	rm -rf target dist
