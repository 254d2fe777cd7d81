# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
OUT ?= bench-out
MINUTES ?= 15
comma := ,
PIP = .venv/bin/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.PHONY: help setup demo test bench stress clean

help:
	@echo "make demo   build the bundled cube, make the network of 574 authors, show that it helps (writes demo-out/)"
	@echo "make test   run every check: ruff, mypy, tests, doctests, README and CLI pages"
	@echo "make setup  make .venv only"
	@echo "make bench  measure everything and write docs/performance.md (DATA=folder adds the real data)"
	@echo "make stress damaged input, kills, races, full disks, hostile names (MINUTES=15; writes stress-out/)"
	@echo "make clean  remove .venv, demo-out, stress-out and caches"

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cube2net needs Python 3.11 or newer: try make PYTHON=python3.12"; exit 1; }
	@test -x .venv/bin/python || { echo "making .venv"; $(PYTHON) -m venv .venv; }
	@echo "installing cube2net into .venv (a minute or two, once)"
	@$(PIP) -e .
	@touch $@

.venv/ready-test: .venv/ready
	@echo "installing what the tests need (a minute or two, once)"
	@$(PIP) -e '.[graph,test$(if $(shell command -v java),$(comma)spark)]'
	@touch $@

.venv/ready-bench: .venv/ready-test
	@$(PIP) -e '.[bench]'
	@touch $@

demo: .venv/ready
	@.venv/bin/cube2net demo --out demo-out

test: .venv/ready-test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/python -m pytest

bench: .venv/ready-bench
	.venv/bin/python benchmarks/run.py $(OUT) $(DATA)

stress: .venv/ready-test
	.venv/bin/python -m stress --minutes $(MINUTES)

clean:
	rm -rf .venv demo-out stress-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
