# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# They need Python 3.11 or newer and a Rust toolchain; the rest goes into .venv and rust/target.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CARGO := cargo
MANIFEST := --manifest-path rust/Cargo.toml
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
SOURCES := pyproject.toml rust/Cargo.toml $(shell find rust/src python/lpcfg -name '*.rs' -o -name '*.lpcfg')

.PHONY: help demo test lint cargo-test pytest bench wheel clean

help:
	@echo "make demo   build, install into .venv, then train, parse, score and draw on embedded data"
	@echo "make test   the same set-up, then linters, cargo test and pytest"
	@echo "make bench  criterion benches of the core, then training and parsing on real data if present"
	@echo "make lint   ruff, mypy, stubtest, cargo fmt, clippy"
	@echo "make wheel  a release wheel in dist/"

$(TOOLS): pyproject.toml
	@command -v $(CARGO) >/dev/null || { echo "lpcfg needs a Rust toolchain (cargo); install one and try again" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "lpcfg needs Python 3.11 or newer; point PYTHON at one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	@touch $@

$(INSTALLED): $(SOURCES) $(TOOLS)
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --extras dev --quiet
	@touch $@

demo: $(INSTALLED)
	$(BIN)/python -m lpcfg.demo

test: $(INSTALLED) lint cargo-test pytest

lint: $(INSTALLED)
	$(BIN)/ruff format --check python tests benches
	$(BIN)/ruff check python tests benches
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest lpcfg._core --ignore-disjoint-bases
	$(CARGO) fmt $(MANIFEST) --check
	$(CARGO) clippy $(MANIFEST) --all-targets --features python --quiet -- -D warnings

cargo-test:
	$(CARGO) test $(MANIFEST) --quiet

pytest: $(INSTALLED)
	$(BIN)/python -m pytest --quiet

bench: $(INSTALLED)
	$(CARGO) bench $(MANIFEST)
	$(BIN)/python benches/treebank.py

wheel: $(TOOLS)
	$(BIN)/maturin build --release --out dist

clean:
	rm -rf $(VENV) rust/target dist
