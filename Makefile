# Two commands: `make serve` (read the book) and `make test` (prove that it is right).
# Everything below sets itself up on first use; `make help` lists the rest.

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
READY := .venv/.ready
# The tests start Python hundreds of times: what was compiled once is kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup serve book site pdf exercises messages test test-apart quick bench experiments mutants lint format types lock clean

help:
	@echo "make serve      build the book and serve it at http://127.0.0.1:8000"
	@echo "make book       build the book into _build/html and stop"
	@echo "make site       build the site to publish, with Python in its pages from Pyodide's network;"
	@echo "                with PYODIDE=DIR, an unpacked Pyodide release, it needs no other site"
	@echo "make pdf        print the book into _build/book.pdf; needs Chromium or Chrome"
	@echo "make exercises  make exercises/ anew from solutions/"
	@echo "make messages   gather all that a learner reads into _build/posenc_lib.pot, to be translated"
	@echo "make test       every check there is"
	@echo "make test-apart other libraries, compilers and experiments; make test does it too, where a file of theirs has changed"
	@echo "make quick      style, types and the library's own tests: less than a minute"
	@echo "make bench      measure the encodings beside their peers, and keep the result"
	@echo "make experiments  train the small models that the book quotes, and keep the results (some five hours on two cores)"
	@echo "make mutants    change right answers a little, see whether the judge notices, and keep the result (of those that changed)"
	@echo "make format     let ruff format the code"
	@echo "make lock       pin every installed package in constraints.txt"
	@echo "make clean      remove what was built (not .venv, not course/)"

setup: $(READY)

# Torch first: whatever comes after it then finds it there and pulls no other build.
$(READY): requirements.txt requirements-no-deps.txt constraints.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) was not found; install Python 3.11 or newer, or name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $$($(PYTHON) --version) is too old; install Python 3.11 or newer, or name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "error: this Python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "installing the pinned packages into .venv (once, some minutes)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt $$(grep '^torch==' requirements.txt)
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-no-deps.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

serve: $(READY)
	@$(BIN)/python book/build.py --serve

book: $(READY)
	@$(BIN)/python book/build.py

# PYODIDE: the folder of an unpacked Pyodide release (book/_ext/pyodide.json says which), or nothing.
site: $(READY)
	@rm -rf _build/html
	@$(BIN)/python book/build.py $(if $(PYODIDE),--pyodide "$(PYODIDE)")

pdf: $(READY)
	@$(BIN)/python book/pdf.py

exercises: $(READY)
	@$(BIN)/python -m posenc_lib.grading.release

messages: $(READY)
	@mkdir -p _build
	@$(BIN)/python -m babel.messages.frontend --quiet extract --mapping book/babel.cfg --output _build/posenc_lib.pot \
		--keywords set_xlabel --keywords set_ylabel --keywords set_title --keywords suptitle \
		--project posenc_lib --no-wrap --sort-by-file --ignore-dirs '.* _build node_modules' .
	@echo "what a learner reads: _build/posenc_lib.pot"

test: lint types
	@$(BIN)/python -m tests.system
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile --durations 15

# What passes is remembered until what it looks at changes.
test-apart: $(READY)
	@$(BIN)/python -m tests.system
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "peers or experiments"
	@$(BIN)/python -m tests.apart

# The library's own: style, types, and its tests but for the slow ones.
quick: lint types
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "not slow" --ignore tests/test_benchmarks.py \
		tests/added tests/biased tests/checking tests/nn tests/rotated tests/test_*.py

bench: $(READY)
	@$(BIN)/python -m benchmarks.encodings --compile

# Goes on where it was when it was stopped.
experiments: $(READY)
	@$(BIN)/python -m posenc_lib.experiments all

mutants: $(READY)
	@$(BIN)/python -m tests.exercises.mutants

lint: $(READY)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: $(READY)
	@$(BIN)/mypy

format: $(READY)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

# Without the old pins, so that a changed requirement can bring what it needs.
lock:
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check $$(grep '^torch==' requirements.txt)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-no-deps.txt
	@$(BIN)/pip freeze --exclude-editable --exclude posenc_lib --exclude setuptools | sed 's/+cpu//; s/ @ file:.*//' > constraints.txt

clean:
	rm -rf _build solutions/*/
