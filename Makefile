# make tune    set everything up, tune the bundled parameters on the bundled games, print what changed
# make check   set everything up, check style and types, pass the fast tests: within a minute once code is compiled
# make test    set everything up, check style and types, pass the tests
# make test-all  the same with the tests that are marked as long, and packages of 340 MB for a few more
# make lowest  the fast tests with the lowest versions of the packages that are needed
# make bench   measure speed; BENCH="perft search --params shogi/hand --json" says what
# PYTHON=python3.12 chooses the interpreter; everything goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile
# test files of a few seconds each, from all layers
FAST := $(addprefix tests/, test_layers.py test_compiled_sources.py test_types.py params \
    $(addprefix games/, test_bits.py test_hashset.py tictactoe) \
    $(addprefix games/chess/, test_content.py test_epd.py test_fen.py test_perft.py test_san.py) \
    $(addprefix evalterms/, test_every_term.py tictactoe) \
    $(addprefix tuner/, test_parallel.py io objectives datasets/test_dataset.py datasets/rows/test_check.py) \
    $(addprefix tuner/statistics/, test_pentanomial.py) \
    $(addprefix tuner/parameters/, test_diff.py test_reader.py test_writer.py) \
    $(addprefix tuner/play/match/, test_loop.py test_openings.py test_tally.py) \
    $(addprefix tuner/fit/, test_prior.py test_problem.py) \
    $(addprefix tuner/report/, test_boards.py test_matches.py test_weights.py) \
    commands/test_command_line.py)

tune: .venv/installed
	$(BIN)/tuner tune classic samples -o learned.yaml --per-game 25
	$(BIN)/tuner diff classic learned.yaml

check: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(PYTEST) -q $(FAST)

test: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(PYTEST)

studies: .venv/tested  # the studies of docs/studies.md, into the folder studies
	failed=; for study in exchess learn_while_playing coulom td_gammon hui_representations hui_krvk hui_random_mover hui_architecture shogi_tdleaf; do \
	    $(BIN)/python examples/studies/$$study.py || failed="$$failed $$study"; done; \
	if [ -n "$$failed" ]; then echo "these studies did not run to the end:$$failed" >&2; exit 1; fi

test-all: .venv/tested-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(PYTEST) -m ""

lowest:  # the fast tests, and a fit, with the lowest version of each package that setup.cfg allows
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	    --constraint .venv-lowest/constraints.txt --editable ".[test]"
	.venv-lowest/bin/python -m pytest -n 2 --dist loadfile -q $(FAST)
	.venv-lowest/bin/tuner tune classic samples --per-game 5 -o .venv-lowest/learned.yaml

bench: .venv/installed
	$(BIN)/python -m tests.benchmarks.speed $(BENCH)

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: setup.cfg pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/tested: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

.venv/tested-all: .venv/tested
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,test-all]"
	touch $@

clean:
	rm -rf .venv .venv-lowest .mypy_cache build *.egg-info learned.yaml

.PHONY: tune check test test-all lowest bench clean
