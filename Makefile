# Portico. Installs everything that a fresh machine needs, except Rust (from rustup), a C compiler and Node.
.DEFAULT_GOAL := help

# Where cargo puts what it builds.
target_dir := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help build run demo test test-all built-tests soak bench bench-scale record-contract contract-package contract-docs wrk lint lint-dependencies target component storage-component hostile nextest test-programs npm wheel library-papers packages quick-packages test-packages packaging-tools swagger-ui bench-embed clean fuzz test-providers pictures

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 19

# With --workspace, `make test` after it compiles no dependency a second time. The first time, cargo itself
# builds the component (host/sandbox/build.rs) alongside the crates that do not need it.
run: $(if $(wildcard dist/portico.wasm),component) ## build quickly and serve on 127.0.0.1:7575 with the data in ./data; make build is for speed
	cargo build --workspace --bin portico
	$(target_dir)/debug/portico serve --listen 127.0.0.1:7575 --data data

demo: $(if $(wildcard dist/portico.wasm),component) ## build quickly and look around a sample household in memory
	cargo build --workspace --bin portico
	$(target_dir)/debug/portico demo

build: component ## build target/release/portico and dist/portico.wasm
	cargo build --release --bin portico

# The component is the same to the byte wherever it is built (contract/tests/reproducible.rs). Panic messages contain
# paths: those below the workspace are relative, and those of dependencies are remapped. RUSTFLAGS is for the host: it
# would replace the flags in .cargo/config.toml.
remap := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo

component: target ## build dist/portico.wasm
	env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS cargo build --package portico-component --target wasm32-wasip2 --profile component \
		--config 'target.wasm32-wasip2.rustflags=["$(remap)"]'
	env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS cargo run --quiet --package portico-annotate --profile component -- \
		$(target_dir)/wasm32-wasip2/component/portico_component.wasm $(target_dir)/portico.wasm
	@mkdir -p dist
	@cmp -s $(target_dir)/portico.wasm dist/portico.wasm || cp $(target_dir)/portico.wasm dist/portico.wasm

# With std, which imports nothing on this target (component/sql).
storage-component: component ## build dist/portico-sql.wasm, the ready storage, and dist/portico-with-sql.wasm, with the rules in one file
	@rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
	env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS cargo build --package portico-ready-storage --target wasm32-unknown-unknown --profile component \
		--config 'target.wasm32-unknown-unknown.rustflags=["$(remap)"]'
	cargo run --quiet --package portico-contract -- ready-storage $(target_dir)/wasm32-unknown-unknown/component/portico_ready_storage.wasm

wheel: storage-component library-papers ## build dist/portico_dashboard-….whl, the library for Python, without compiling the host
	python3 bindings/python/generate.py --check
	python3 bindings/python/build_wheel.py dist $(papers)

# The licences of what both libraries contain, and their SBOM.
papers := target/packages/library
library-papers:
	@mkdir -p $(papers)
	cp LICENSE $(papers)
	python3 packaging/dependencies.py licenses library >$(papers)/THIRD-PARTY-LICENSES.txt
	python3 packaging/dependencies.py sbom library >$(papers)/portico.cdx.json

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

test-all: built-tests test-programs target/python/installed ## what CI runs: also all tests that need other programs or much time
	cargo nextest run --workspace --no-fail-fast --run-ignored all

built-tests: component storage-component hostile nextest # also runs the examples in comments
	cargo build --workspace --bin portico --bin rust-dashboard --tests
	cargo test --quiet --workspace --doc

test-programs: # installs programs for the tests, from Debian's packages
	@tests/install.sh chromium chromium
	@PATH="$$PATH:/usr/sbin" tests/install.sh slapd slapd
	@tests/install.sh ldapmodify ldap-utils
	@tests/install.sh openssl openssl
	@$(with_postgresql) tests/install.sh initdb postgresql
	@tests/install.sh fail2ban-regex fail2ban
	@PATH="$$PATH:/usr/sbin" tests/install.sh haproxy haproxy
	@PATH="$$PATH:/usr/sbin" tests/install.sh nginx nginx
	@tests/install.sh caddy caddy
	@PATH="$$PATH:/usr/sbin" tests/install.sh pgbouncer pgbouncer
	@python3 -c 'import ensurepip' 2>/dev/null || tests/install.sh python3-venv python3-venv

# Python packages for tests and examples, in the versions that the files name.
requirements := $(wildcard tests/*/requirements.txt examples/*/requirements.txt bindings/*/tests/requirements.txt)

target/python/installed: $(requirements)
	python3 -m venv --clear target/python
	target/python/bin/pip install --quiet --disable-pip-version-check $(addprefix --requirement ,$(requirements))
	@touch $@

# Those of all pictures that the test takes which the docs show.
pictures := home-dark-1280 home-light-1280 home-light-390 edit-light-1280 status-dark-1280 looks-light-1280 first-light-1280 many-dark-1280
pictures: component nextest ## take the pictures of docs/images anew; target/pictures has more of them
	@tests/install.sh chromium chromium
	@fc-list 2>/dev/null | grep -q 'Inter:' || tests/install.sh no-such-program fonts-inter
	cargo build --workspace --bin portico
	PORTICO_SCREENSHOTS=$(CURDIR)/target/pictures cargo nextest run --workspace --test server --run-ignored all \
		-E 'test(the_sample_household_is_shown_with_3_40_and_300_apps)'
	rm -f docs/images/* && cp $(pictures:%=target/pictures/%.webp) docs/images

PROVIDERS ?= slapd 389-ds apacheds samba oidc-provider better-auth django-oauth-toolkit django-oidc-provider canaille lemonldap nginx prometheus crowdsec
# What the package of ApacheDS needs and does not bring, and the Perl modules that the portal of LemonLDAP::NG loads.
apacheds := apacheds default-jre-headless libapache-directory-api-java libapache-directory-jdbm-java libbcprov-java libcaffeine-java \
	libcommons-collections4-java libcommons-lang-java libcommons-lang3-java libcommons-pool-java libcommons-text-java libdom4j-java \
	libmavibot-java libmina2-java libxpp3-java
lemonldap := liblemonldap-ng-portal-perl libplack-perl libdbd-sqlite3-perl libstring-random-perl libio-string-perl libgd-perl \
	libgd-securityimage-perl libimage-magick-perl libcrypt-jwt-perl libconvert-base32-perl libmime-tools-perl libemail-sender-perl
test-providers: component target/python/installed ## sign in at real directories, issuers and proxies, as docs/providers.md says, and let real programs watch; PROVIDERS="slapd samba"
	@PATH="$$PATH:/usr/sbin" tests/install.sh slapd slapd
	@tests/install.sh ldapmodify ldap-utils
	@tests/install.sh openssl openssl
	@case " $(PROVIDERS) " in *" 389-ds "*) PATH="$$PATH:/usr/sbin" tests/install.sh dscreate 389-ds-base;; esac
	@for package in $(if $(filter apacheds,$(PROVIDERS)),$(apacheds)) $(if $(filter lemonldap,$(PROVIDERS)),$(lemonldap)); do \
		dpkg -s $$package >/dev/null 2>&1 || tests/install.sh no-such-program $$package; done
	@case " $(PROVIDERS) " in *" nginx "*) PATH="$$PATH:/usr/sbin" tests/install.sh nginx nginx;; esac
	@case " $(PROVIDERS) " in *" samba "*) tests/install.sh ip iproute2; tests/install.sh samba-tool samba; \
		PATH="$$PATH:/usr/sbin" tests/install.sh samba samba-ad-dc; \
		test -e /usr/share/samba/setup/provision.ldif || tests/install.sh portico-provision samba-ad-provision;; esac
	cargo build --workspace --bin portico
	PATH="$$PATH:/usr/sbin" target/python/bin/python tests/providers/run.py $(PROVIDERS)

FUZZ_TIME ?= 3600
FUZZ_TARGETS ?=
fuzz: component ## give hostile bytes to what reads them, guided by coverage, for FUZZ_TIME seconds a target: make fuzz FUZZ_TARGETS="state restore"
	@tests/install.sh g++ g++
	tests/fuzz/run.sh $(FUZZ_TIME) $(FUZZ_TARGETS)

ROUNDS ?= 500
soak: component test-programs nextest ## kill and restart services, servers and connections under load, and compare drivers, for longer: make soak ROUNDS=500
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

npm: storage-component library-papers ## build dist/portico-dashboard-VERSION.tgz, the library for Node
	cp $(papers)/* bindings/node
	cd bindings/node && CFLAGS=-O1 CXXFLAGS=-O1 npm ci --silent && npm run --silent build && \
		npm pack --silent --pack-destination ../../dist

contract-docs: ## generate docs/contract.md from the comments in wit/
	cargo run --quiet --package portico-contract -- docs

ADAPTERS ?= portico rust_dashboard node_dashboard node_handlers python_dashboard python_handlers python_own_users
bench-embed: build storage-component wrk target/python/installed ## measure the examples beside handlers of the same frameworks and Portico's own host, and the libraries in process
	cargo build --release --package rust-dashboard
	cd bindings/node && npm ci --silent && npm run --silent build
	cd examples/node-dashboard && npm ci --silent
	cd tests/clients/embedding && node speed.mjs 5 $(ADAPTERS)
	node bindings/node/bench.js
	PYTHONPATH=bindings/python target/python/bin/python bindings/python/bench.py

wrk: # installs the load generator
	@tests/install.sh wrk wrk

lint: component ## check formatting, clippy, and the libraries' documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo check --quiet --package portico-sql --target wasm32-wasip2
	RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace

lint-dependencies: ## check licences, sources and bans of all dependencies (deny.toml); compiles cargo-deny the first time
	@cargo deny --version >/dev/null 2>&1 || cargo install --locked --debug cargo-deny@0.20.2
	cargo deny check bans licenses sources

# What packages are built for, and the oldest glibc that they run on: that of Debian 10.
package_targets := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
glibc := 2.28
packaging_tools := $(CURDIR)/target/packaging-tools

packages: component lint-dependencies packaging-tools ## build everything that is installed without a compiler into dist/, for x86-64 and arm64
	rm -f dist/*.deb dist/*.whl dist/*.tgz dist/*.tar.zst dist/SHA256SUMS
	$(MAKE) npm wheel
	set -e; export PATH="$(packaging_tools)/bin:$$PATH"; for target in $(package_targets); do \
		rustup target add $$target; \
		cargo auditable zigbuild --locked --release --bin portico --target $$target.$(glibc); \
		python3 packaging/build.py $(target_dir)/$$target/release/portico $$target dist; \
	done
	cd dist && sha256sum *.deb *.whl *.tgz *.tar.zst >SHA256SUMS

# The linker and C compiler for an old glibc, and what writes the list of dependencies into the binary.
packaging-tools: $(packaging_tools)/installed
$(packaging_tools)/installed: packaging/requirements.txt Makefile
	python3 -m venv --clear $(packaging_tools)
	$(packaging_tools)/bin/pip install --quiet --disable-pip-version-check --requirement packaging/requirements.txt
	cargo install --quiet --locked --root $(packaging_tools) cargo-auditable@0.7.7
	@tests/install.sh zstd zstd
	@touch $@

# Of the binary of `make run`, for this machine alone, and barely compressed: to try packages, and for CI.
quick_folder := target/packages/quick
quick-packages:
	@tests/install.sh zstd zstd
	cargo build --workspace --bin portico
	@mkdir -p $(quick_folder) && rm -f $(quick_folder)/*
	strip -o $(quick_folder)/binary $(target_dir)/debug/portico
	python3 packaging/build.py --quick $(quick_folder)/binary $(shell uname -m)-unknown-linux-gnu $(quick_folder)

PACKAGES ?= dist
KINDS ?= deb,systemd,archive,image,wheel,npm,library-node,library-python,arm64
test-packages: ## install the packages of make packages on clean roots, and run each to its first answers; PACKAGES=folder KINDS=deb,wheel
	@PATH="$$PATH:/usr/sbin" tests/install.sh debootstrap debootstrap
	@case "$(KINDS)" in *systemd*) tests/install.sh systemd-nspawn systemd-container;; esac
	@case "$(KINDS)" in *arm64*) tests/install.sh qemu-aarch64-static qemu-user-static;; esac
	PATH="$$PATH:/usr/sbin:/sbin" python3 packaging/test.py --only $(KINDS) $(PACKAGES)

swagger-ui: ## update the viewer at /api/docs: make swagger-ui VERSION=5.35.0
	host/http/assets/swagger-ui/renew.sh $(VERSION)

clean: ## remove everything that was built; ./data stays
	rm -rf target dist
