# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# They need Python 3.11 or newer and a Rust toolchain; the rest goes into .venv and rust/target.

PYTHON ?= python3
CARGO ?= cargo
VENV := .venv
BIN := $(VENV)/bin
MANIFEST := --manifest-path rust/Cargo.toml
TOOLS := $(VENV)/.tools
INSTALLED := $(VENV)/.installed
DEVELOPER_TOOLS := $(VENV)/.developer_tools
RELEASE_TOOLS := $(VENV)/.release_tools
DEMO_INSTALLED := $(VENV)/.demo_installed
# Python files are used in place, so only what goes into the compiled module calls for a new build.
SOURCES := pyproject.toml rust/Cargo.toml rust/Cargo.lock $(shell find rust/src -name '*.rs')

.PHONY: help demo test lint lint-python lint-rust cargo-test pytest soak bench docs wheel sdist release-check clean
.DELETE_ON_ERROR:

help:
	@echo "make demo   build, install into .venv, then parse, train, score, draw and serve a page"
	@echo "make test   the same set-up, then linters, cargo test and pytest"
	@echo "make lint   ruff, import-linter, mypy, stubtest, cargo fmt, clippy"
	@echo "make soak   fuzz for SOAK_MINUTES; goes on where the last run was"
	@echo "make bench  criterion benches of the core, then training and parsing on real data if present"
	@echo "make docs   the documentation site in site/"
	@echo "make wheel  a release wheel in dist/, on Linux for glibc 2.17 or newer"
	@echo "make sdist  a source distribution in dist/"
	@echo "make release-check  make both, install each into a clean environment, and parse with it"
	@echo "make clean  remove everything that these have made"

# What is missing is said before anything is built. Rust's version is the one that the crate asks for.
define CHECK_RUST
import re, subprocess, sys, tomllib
with open("rust/Cargo.toml", "rb") as file:
    wanted = tomllib.load(file)["package"]["rust-version"]
found = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True).stdout
version = re.search(r"(\d+)\.(\d+)", found)
if not version or tuple(map(int, version.groups())) < tuple(map(int, wanted.split("."))):
    sys.exit(f"lpcfg needs Rust {wanted} or newer, found {found.strip() or 'none'}; try: rustup update")
endef
export CHECK_RUST

$(TOOLS): pyproject.toml rust/Cargo.toml
	@command -v $(PYTHON) >/dev/null || { \
		echo "lpcfg needs Python 3.11 or newer, and there is no $(PYTHON); to use another: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "lpcfg needs Python 3.11 or newer, found $$($(PYTHON) --version); to use another: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "this Python cannot make virtual environments; install its venv package (python3-venv on Debian)" >&2; exit 1; }
	@command -v $(CARGO) >/dev/null || { \
		echo "lpcfg needs a Rust toolchain, and there is no $(CARGO); install one, for example with rustup" >&2; exit 1; }
	@$(PYTHON) -c "$$CHECK_RUST" $(CARGO)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	@touch $@

DEVELOP := PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_COMPILE=1 \
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked --quiet --extras text,serve

$(INSTALLED): $(SOURCES) $(TOOLS)
	$(DEVELOP) --release
	@touch $@

# A build that takes less time, if there is no other one.
$(DEMO_INSTALLED): $(SOURCES) $(TOOLS)
	$(DEVELOP) --profile demo
	@touch $@

# What tests, linters and the documentation need, and `make demo` does not. Files are compiled when
# they are imported: compiling all of them takes longer than the tests of some packages.
define PRINT_DEVELOPER_TOOLS
import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"]["dev"], sep="\n")
endef
export PRINT_DEVELOPER_TOOLS

$(DEVELOPER_TOOLS): $(INSTALLED) pyproject.toml
	$(BIN)/python -c "$$PRINT_DEVELOPER_TOOLS" > $@.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $@.txt
	@touch $@

demo: $(if $(wildcard $(INSTALLED)),$(INSTALLED),$(DEMO_INSTALLED))
	$(BIN)/python -m lpcfg.cli.demo --output demo

# The checks of the crate need no installed package, so they run beside the build of the package.
test: $(TOOLS)
	$(MAKE) --jobs=2 lint-rust cargo-test lint-python pytest

lint: lint-rust lint-python

lint-rust: $(TOOLS)
	$(CARGO) fmt $(MANIFEST) --check
	$(CARGO) clippy $(MANIFEST) --locked --all-targets --features python --quiet -- -D warnings

lint-python: $(DEVELOPER_TOOLS)
	$(BIN)/ruff format --check python tests benches docs conftest.py
	$(BIN)/ruff check python tests benches docs conftest.py
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	$(BIN)/mypy --config-file benches/mypy.ini benches/*.py
	$(BIN)/python -m mypy.stubtest lpcfg._core --ignore-disjoint-bases

# After the linter: both would wait for the same build folder.
cargo-test: lint-rust
	$(CARGO) test $(MANIFEST) --locked --quiet
	# Each bench once, so that `make bench` works when it is wanted.
	$(CARGO) test $(MANIFEST) --locked --quiet --benches > /dev/null

pytest: $(DEVELOPER_TOOLS)
	# A module is run by one process, so that its fixtures are made once. conftest.py orders them.
	$(BIN)/python -m pytest --quiet --numprocesses=auto --dist=loadscope --no-loadscope-reorder

# The state of a run is in SOAK_STATE. SOAK_ONLY=TARGET SOAK_CASE=NUMBER runs one case again.
SOAK_MINUTES ?= 10
SOAK_SEED ?= 0
SOAK_STATE ?= .soak
soak: $(INSTALLED)
	PYTHONPATH=tests $(BIN)/python -m fuzz.soak --minutes $(SOAK_MINUTES) --seed $(SOAK_SEED) \
		--state $(SOAK_STATE) $(if $(SOAK_ONLY),--only $(SOAK_ONLY)) $(if $(SOAK_CASE),--case $(SOAK_CASE))

bench: $(INSTALLED)
	$(CARGO) bench $(MANIFEST) --locked
	$(BIN)/python benches/treebank.py
	$(BIN)/python benches/performance.py

docs: $(DEVELOPER_TOOLS)
	$(BIN)/mkdocs build --quiet

# The C library of an old distribution comes with zig, which maturin runs as a module of Python.
ifeq ($(shell uname -s),Linux)
WHEEL_OPTIONS ?= --zig --compatibility manylinux2014
endif

$(RELEASE_TOOLS): $(TOOLS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang twine
	@touch $@

wheel: $(RELEASE_TOOLS)
	rm -f dist/*.whl
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/maturin build --release --locked $(WHEEL_OPTIONS) --out dist

sdist: $(RELEASE_TOOLS)
	rm -f dist/*.tar.gz
	$(BIN)/maturin sdist --out dist

release-check: wheel sdist
	$(BIN)/twine check --strict dist/*
	PYTHON=$(PYTHON) .ci/release_check dist/*.whl dist/*.tar.gz

clean:
	rm -rf $(VENV) rust/target dist demo site .soak
