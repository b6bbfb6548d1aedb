# The environment is .venv, made from requirements.lock; everything else runs inside it.

PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup demo test check slow bench lock clean

setup: .venv/ready

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "archive needs Python 3.11 or newer; set PYTHON=/path/to/it")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	@$(BIN)/python -m tests.support.demo

test: setup
	$(BIN)/python -m pytest -m "not slow"

slow: setup
	$(BIN)/python -m pytest -m slow

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry archiver formats

bench: setup
	$(BIN)/python -m benchmarks

# Needs `uv`; writes no index address.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --extra dev --quiet -o requirements.lock pyproject.toml

clean:
	rm -rf .venv demo
