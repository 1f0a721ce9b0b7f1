# Each target makes the virtual environment that it needs in .venv, and uses it again while pyproject.toml is unchanged.
# A machine needs Python 3.11 or newer, and make:  make demo  or  make test PYTHON=python3.12

VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
JOBS ?= 2
BIN := $(VENV)/bin
SHELL := /bin/sh

.PHONY: help demo test test-full lint bench clean
.DELETE_ON_ERROR:

help:
	@echo "make demo       train a small network on handwritten digits"
	@echo "make test       every test that needs pip packages alone"
	@echo "make test-full  also the long tests, and the others under each Python that is there"
	@echo "make lint       ruff and mypy"
	@echo "make bench      gradients side by side with hand-written ones and with peers"
	@echo "make clean      remove what these targets made"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "s2s needs Python 3.11 or newer: none found; name one with PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "s2s needs Python 3.11 or newer: $(PYTHON) is not" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)

# $(VENV)/demo.stamp, test.stamp, ...: the package and one of its extras are installed.
$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/digits.py

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -q -n $(JOBS)

test-full: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -n $(JOBS) --full
	@for p in python3.11 python3.12 python3.13; do \
		version=$$("$$p" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null) || continue; \
		test "$$version" = "$$($(BIN)/python -c 'import sys; print(sys.version_info[:2])')" && continue; \
		echo "also under $$p:" && $(MAKE) test VENV=$(VENV)-$$p PYTHON=$$p || exit 1; \
	done

lint: $(VENV)/dev.stamp
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/compile_time.py
	$(BIN)/python benchmarks/eager.py

clean:
	rm -rf $(VENV) $(VENV)-python3.* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
