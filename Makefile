# Two commands: `make serve` (read the book) and `make test` (prove that it is right).
# Everything below sets itself up on first use; `make help` lists the rest.

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
BOOK := .venv/.book
READY := .venv/.ready
# The tests start Python hundreds of times: what was compiled once is kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup serve book lab site pdf exercise exercises messages test test-all test-apart quick bench experiments mutants lint format types lock clean

help:
	@echo "make serve      build the book and serve it at http://127.0.0.1:8000; PORT=8001 takes another port"
	@echo "make book       build the book into _build/html and stop"
	@echo "make lab        open the exercises in JupyterLab"
	@echo "make site       build the site to publish; its pages bring their own Python, with PYODIDE=network"
	@echo "                they take it from Pyodide's network, with PYODIDE=DIR from an unpacked release"
	@echo "make pdf        print the book into _build/book.pdf; needs Chromium or Chrome"
	@echo "make exercises  make exercises/ anew from solutions/; with POSENC_LANGUAGE=zh_CN in Chinese, for a class"
	@echo "make exercise NAME=05-pitfalls.my_function  begin a new one: its files, which say what they lack"
	@echo "make messages   bring the other languages' catalogues up to the English, and say what is to do"
	@echo "make test       every check whose files have changed since it passed here; the first time, every check there is"
	@echo "make test-apart what make test leaves out while its files are as they were: other libraries, experiments, grading, the PDF, pages"
	@echo "make test-all   make test, and nothing is left out"
	@echo "make quick      style, types and the library's own tests: less than a minute"
	@echo "make bench      measure the encodings beside their peers, and keep the result"
	@echo "make experiments  train the small models that the book quotes, and keep the results (some six hours on two cores)"
	@echo "make mutants    change right answers a little, see whether the judge notices, and keep the result (of those that changed)"
	@echo "make lint       style, of Python by ruff and of scripts by Biome"
	@echo "make types      types, of Python by mypy and of scripts by TypeScript"
	@echo "make format     let ruff and Biome format the code"
	@echo "make lock       pin every installed package in constraints.txt"
	@echo "make clean      remove what was built (not .venv, not course/)"

setup: $(READY)

# The tests need more than the book: each has a set-up, in steps. A step that is done leaves a mark in .venv, so a
# set-up that was cut off continues there. Torch first: whatever comes after it finds it, and brings no other build.
# On a terminal, pip shows how far it is.
PIP := $(BIN)/pip install $$(test -t 2 || echo --quiet) --disable-pip-version-check --no-compile

.venv/.python:
	@command -v $(PYTHON) >/dev/null || { echo "error: $(PYTHON) was not found; install Python 3.11 or newer, or name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $$($(PYTHON) --version) is too old; install Python 3.11 or newer, or name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "error: this Python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@touch $@

.venv/.torch: requirements.txt constraints.txt | .venv/.python
	@echo "set-up, step 1 of 3: PyTorch (once, a minute or two)"
	@$(PIP) -c constraints.txt $$(grep '^torch==' requirements.txt)
	@touch $@

.venv/.packages: requirements.txt requirements-no-deps.txt constraints.txt .venv/.torch
	@echo "set-up, step 2 of 3: what builds and serves the book (once, a minute or two)"
	@$(PIP) -c constraints.txt -r requirements.txt
	@$(PIP) --no-deps $$(grep '^diffusers==' requirements-no-deps.txt)
	@touch $@

$(BOOK): pyproject.toml posenc_course/pyproject.toml .venv/.packages
	@echo "set-up, step 3 of 3: the library and the course"
	@$(PIP) --no-deps --no-build-isolation --editable . --editable posenc_course
	@$(BIN)/python -m book.catalogues --compile
	@touch $@

$(READY): requirements-test.txt $(BOOK)
	@echo "set-up for the tests: what the library is compared with, and what checks it (once, a minute or two)"
	@$(PIP) -c constraints.txt -r requirements-test.txt
	@$(PIP) --no-deps -r requirements-no-deps.txt
	@touch $@

serve: $(BOOK)
	@$(BIN)/python book/build.py --serve $(if $(PORT),--port $(PORT))

book: $(BOOK)
	@$(BIN)/python book/build.py

lab: $(BOOK)
	@$(BIN)/python book/server.py $(if $(PORT),--port $(PORT))

# PYODIDE: own, network, or the folder of an unpacked Pyodide release (book/_ext/pyodide.json says which).
site: $(BOOK)
	@rm -rf _build/html
	@$(BIN)/python book/build.py $(if $(PYODIDE),--pyodide "$(PYODIDE)")

pdf: $(READY)
	@$(BIN)/python book/pdf.py

exercise: $(READY)
	@$(BIN)/python -m tools.new_exercise "$(NAME)"

# POSENC_LANGUAGE: that of the class, such as zh_CN; nbgrader's gradebook learns of the assignments in English.
exercises: $(BOOK)
	@POSENC_LANGUAGE=en $(BIN)/python -m posenc_course.grading.release
	@test -z "$(POSENC_LANGUAGE)" || $(BIN)/python -m book.editions "$(POSENC_LANGUAGE)"

messages: book
	@$(BIN)/python -m book.catalogues

test: lint types
	@$(BIN)/python -m tools.system
	@$(BIN)/python -m tests.apart begin
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile --durations 15
	@$(BIN)/python -m tests.apart keep

# Every test, whatever was proven before.
test-all: lint types
	@$(BIN)/python -m tools.system
	@$(BIN)/python -m tests.apart begin --again
	@rm -rf _build/pages.json _build/opened
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile --durations 15
	@$(BIN)/python -m tests.apart keep

# What passes is remembered until what it looks at changes.
test-apart: $(READY)
	@$(BIN)/python -m tools.system
	@$(BIN)/python -m tests.apart begin --again
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "peers or experiments or grading or pdf or pages"
	@$(BIN)/python -m tests.apart keep

# The library's own: style, types, and its tests but for the slow ones.
quick: lint types
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "not slow" --ignore tests/test_benchmarks.py \
		tests/added tests/biased tests/checking tests/nn tests/rotated tests/test_*.py

bench: $(READY)
	@$(BIN)/python -m benchmarks.encodings --compile

# Goes on where it was when it was stopped.
experiments: $(READY)
	@$(BIN)/python -m posenc_course.experiments all

mutants: $(READY)
	@$(BIN)/python -m tools.mutants

lint: $(READY)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/python -m tools.web lint

types: $(READY)
	@$(BIN)/mypy
	@$(BIN)/python -m tools.web types

format: $(READY)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@$(BIN)/python -m tools.web format

# Without the old pins, so that a changed requirement can bring what it needs.
lock:
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check $$(grep '^torch==' requirements.txt)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-test.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-no-deps.txt
	@$(BIN)/pip freeze --exclude-editable --exclude posenc_lib --exclude posenc_course --exclude setuptools | sed 's/+cpu//; s/ @ file:.*//' > constraints.txt

clean:
	rm -rf _build solutions/*/
