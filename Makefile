# Everything a newcomer or CI types. Each target sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Agents of other frameworks: many packages, so they have an environment of their own.
FRAMEWORKS_VENV  ?= .venv-frameworks
FRAMEWORKS_READY := $(FRAMEWORKS_VENV)/.ready

.PHONY: demo test check lint types contracts format bench quality matrix frameworks clean

demo: $(READY)
	@$(BIN)/runtape demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: lint types contracts

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m tests.benchmarks

quality: $(READY)
	$(BIN)/python -m tests.quality

# Record and replay on three generations of SDKs, each in an environment of its own under .matrix.
matrix: $(READY)
	$(BIN)/python -m tests.matrix
	RUNTAPE_KILLS=50 $(BIN)/python -m pytest tests/unit/test_tape_writer.py -q -k killed

frameworks: $(FRAMEWORKS_READY)
	$(FRAMEWORKS_VENV)/bin/python -m pytest tests/integration/test_frameworks.py \
		tests/integration/test_langchain.py tests/integration/test_langchain_told.py \
		tests/integration/test_langgraph.py

clean:
	rm -rf $(VENV) $(FRAMEWORKS_VENV) .matrix build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[openai,anthropic,prices]" --group dev
	@touch $@

$(FRAMEWORKS_READY): pyproject.toml
	$(PYTHON) -m venv $(FRAMEWORKS_VENV)
	$(FRAMEWORKS_VENV)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(FRAMEWORKS_VENV)/bin/python -m pip install --quiet \
		--editable ".[openai,anthropic]" --group frameworks
	@touch $@
