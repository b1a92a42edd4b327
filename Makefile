# make tune    set everything up, tune the bundled parameters on the bundled games, print what changed
# make test    set everything up, pass the tests
# PYTHON=python3.12 chooses the interpreter, EXTRAS what to install beside it (see setup.cfg); everything goes into .venv.

PYTHON ?= python3
EXTRAS ?= test
BIN := .venv/bin

tune: .venv/installed
	$(BIN)/tuner tune classic games/samples/stockfish400.pgn.zst -o learned.yaml
	$(BIN)/tuner diff classic learned.yaml

test: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: .venv/installed
	$(BIN)/tuner bench

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: setup.cfg pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	touch $@

clean:
	rm -rf .venv build *.egg-info learned.yaml

.PHONY: tune test bench clean
