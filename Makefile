# Everything a newcomer or CI types. Each target sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check lint types contracts format bench quality clean

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

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[openai,anthropic,prices]" --group dev
	@touch $@
