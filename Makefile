# Everything runs in the project's own environment, .venv, which the first target makes.
# To use another: make test PYTHON=/path/to/python

SHELL := /bin/bash
BASE ?= python3
VENV := .venv
PYTHON ?= $(VENV)/bin/python
CC ?= cc
SECONDS ?= 60
SEED ?= 0
PROGRAMS ?= plain
BESIDE ?= -n auto --maxprocesses 8 --dist worksteal
OBEYS = $(PYTHON) -m check_jsonschema -q --builtin-schema vendor
export PYTHONPATH := $(CURDIR)

SOURCES := $(shell find imode -name '*.py' -o -name '*.p[yx][xd]' -o -name '*.h' -o -name '_*.c') \
           setup.py tools/names.py tools/stubs.py
STAMP := build/.built

.PHONY: help docs demo examples cluster test fast bench bench-large bench-models conformance coverage fuzz stress crash lint format build debug leaks wheel wheels away clean

help:            ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | column -t -s "$$(printf '\t')"

demo: $(STAMP) .venv/.demo  ## train on handwritten digits, see its answers, what they cost in each mode, what is refused
	$(PYTHON) examples/digits.py

EXAMPLES := examples/pretrained
examples: $(STAMP) .venv/.examples .venv/.models  ## real weights: speech, sentences, images; a text model, trained
	$(PYTHON) $(EXAMPLES)/voice_activity.py
	$(PYTHON) $(EXAMPLES)/sentences.py
	$(PYTHON) -m imode $(EXAMPLES)/sentences_as_they_are.py
	$(PYTHON) $(EXAMPLES)/images.py
	$(PYTHON) examples/text.py

cluster: $(STAMP) .venv/.test .venv/.ray .venv/.dask .venv/.serving  ## examples/cluster, by Ray and by Dask, on two processes; examples/serving under load
	$(PYTHON) -m pytest tests/test_integrations.py tests/test_serving.py --durations=8

# What tests the kernels that are compiled for several levels of x86-64.
KERNELS := $(patsubst %,tests/test_%.py,cpu_level loops reduce norm conv loss fourier random special \
	stored moving scaled_products create linalg eigen)
test: $(STAMP) .venv/.test    ## all tests that need neither torch nor a network; the kernels' at a low level of the CPU, too
	$(PYTHON) -m pytest tests --ignore=tests/conformance $(BESIDE)
	IMODE_CPU_LEVEL=x86-64-v2 $(PYTHON) -m pytest $(KERNELS) $(BESIDE) -q

fast: $(STAMP) .venv/.test    ## the tests, without the slow ones
	$(PYTHON) -m pytest tests --ignore=tests/conformance $(BESIDE) -m 'not slow' -q

conformance: $(STAMP) .venv/.test .venv/.conformance  ## the same programs here and in PyTorch
	$(PYTHON) -m pytest tests/conformance

coverage: $(STAMP) .venv/.test .venv/.conformance  ## docs/coverage.md, from what is there now
	$(PYTHON) -m tests.conformance.op_db
	$(PYTHON) tools/coverage.py

fuzz: $(STAMP) .venv/.conformance  ## random programs in both libraries: SECONDS=60 SEED=0 PROGRAMS=plain|themes|custom|hostile
	$(PYTHON) -m tests.conformance.fuzz --seconds $(SECONDS) --seed $(SEED) --programs $(PROGRAMS)

stress: $(STAMP) .venv/.test  ## random work in many threads: SECONDS=60 SEED=0
	$(PYTHON) -m tests.stress --seconds $(SECONDS) --seed $(SEED)

crash: $(STAMP) .venv/.test  ## random arguments to every operator, hostile hooks: SECONDS=60 SEED=0
	$(PYTHON) -m tests.crash --seconds $(SECONDS) --seed $(SEED)

bench-large: $(STAMP) .venv/.bench  ## operators over large arrays beside PyTorch's: LARGE="--only exp --level x86-64-v2"
	$(PYTHON) -m benchmarks.large $(LARGE)

bench-models: $(STAMP) .venv/.bench  ## whole models beside PyTorch's, with their memory
	$(PYTHON) -m benchmarks.models

bench: $(STAMP) .venv/.bench  ## times beside PyTorch's and NumPy's; tables under build/bench
	$(PYTHON) -m benchmarks

lint: $(STAMP) .venv/.dev .venv/.test  ## ruff, cython-lint; mypy and pyright, strict; workflows and forms by their schemas
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	PATH="$(abspath $(dir $(PYTHON))):$$PATH" cython-lint imode
	$(PYTHON) -m mypy
	$(PYTHON) -m basedpyright
	PATH="$(abspath $(dir $(PYTHON))):$$PATH" zizmor --offline --quiet .github
	$(OBEYS).github-workflows .github/workflows/*.yml
	$(OBEYS).dependabot .github/dependabot.yml
	$(OBEYS).github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(OBEYS).github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(OBEYS).citation-file-format CITATION.cff

format: .venv/.dev       ## reformat the Python files
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

docs: $(STAMP) .venv/.docs  ## the documentation site, build/site/index.html, its pictures drawn and its links checked
	$(PYTHON) tools/site.py build/site

build: $(STAMP)          ## compile in place
	@:

debug: .venv/.build      ## compile in place with all checks on
	IMODE_DEBUG=1 $(PYTHON) setup.py -q build_ext --inplace
	@rm -f $(STAMP)

leaks: debug .venv/.test ## the tests that nothing is left behind, on a debug build, which counts objects
	$(PYTHON) -X dev -m pytest tests/test_leaks.py

wheel: .venv/.dev        ## dist/*.whl and dist/*.tar.gz
	$(PYTHON) -m build --outdir dist .

wheels: .venv/.wheels    ## dist/*.whl of each Python here, built twice, for old glibcs, tried: PYTHONS="python3.13 ..." ONCE=--once
	$(PYTHON) tools/wheels.py $(ONCE) $(PYTHONS)

AWAY := build/away
away: .venv/.dev         ## the sdist, installed into an empty environment, passes the tests there; a package builds on it
	rm -rf $(AWAY) && mkdir -p $(AWAY)/run
	$(PYTHON) -m build --sdist --outdir $(AWAY) .
	tar -xzf $(AWAY)/imode-*.tar.gz -C $(AWAY)/run --strip-components=1
	rm -rf $(AWAY)/run/imode $(AWAY)/run/setup.py
	$(BASE) -m venv $(AWAY)/env
	$(AWAY)/env/bin/python -m pip install --disable-pip-version-check \
		"$$(ls $(AWAY)/imode-*.tar.gz)[test]"
	cd $(AWAY)/run && PYTHONPATH= ../env/bin/python -m pytest -q tests --ignore=tests/conformance \
		-m 'not slow'
	cd $(AWAY)/run/examples/roi_align && export PYTHONPATH= && ../../../env/bin/python -m pip install \
		--disable-pip-version-check --no-build-isolation . && ../../../env/bin/python -m pytest -q tests

clean:                   ## remove what was built, the environment too
	rm -rf build dist .venv *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .benchmarks
	find imode -name '*.so' -delete -o -name '*.pyi' -delete -o -path imode/ops/names.py -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): $(SOURCES) .venv/.build
	$(PYTHON) setup.py -q build_ext --inplace
	@mkdir -p build && touch $@

# ---- the environment: one stamp per extra, so that a second run installs nothing ----

.venv/bin/python:
	$(BASE) -m venv .venv

.venv/.build: pyproject.toml | $(PYTHON)
	$(call install,'setuptools>=77' 'Cython>=3.3' 'numpy>=2.1')

.venv/.test .venv/.conformance .venv/.bench .venv/.dev .venv/.demo .venv/.docs .venv/.examples .venv/.wheels .venv/.ray .venv/.dask .venv/.serving: pyproject.toml | .venv/.build
	$(call install,-r <($(PYTHON) tools/extra.py $(patsubst .%,%,$(notdir $@))))

.venv/.models: pyproject.toml | .venv/.build  # files of these packages are read: none needs torch
	$(call install,--no-deps -r <($(PYTHON) tools/extra.py models))

# Another environment is used as it is: nothing is installed into it.
define install
	@mkdir -p .venv
	$(if $(filter .venv/bin/python,$(PYTHON)),$(PYTHON) -m pip install --disable-pip-version-check $(1),@:)
	@touch $@
endef
