# Two commands do everything on a fresh machine: `make quickstart` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Real traces, where they are at hand; tests that need them skip otherwise, and say so.
TRACES := $(wildcard ../shared/traces)
ifneq ($(TRACES),)
export HPCSCHED_TRACES ?= $(abspath $(TRACES))
endif
# Likewise recorded answers of slurmrestd.
SLURMRESTD := $(wildcard ../shared/slurmrestd)
ifneq ($(SLURMRESTD),)
export HPCSCHED_SLURMRESTD ?= $(abspath $(SLURMRESTD))
endif

# Likewise the workloads that share GPUs; see docs/fgd2023.md.
FGD := $(wildcard ../shared/fgd)
ifneq ($(FGD),)
export HPCSCHED_FGD ?= $(abspath $(FGD))
endif

QUICKSTART := small-easy small-fcfs small-sjf small-cp small-order-search
LONGEST_FIRST := small-order-search $(filter-out small-order-search,$(QUICKSTART))
# The first jobs of the embedded trace, and the objective that the last two go after.
QUICKLY := --set trace.jobs=300 --set objective=af

.PHONY: quickstart release test test-all test-slurm test-slurm-long lint bench sanitize fuzz mutation docs debs2024 debs2024_logs mod2017 cp2021 cpmpy_models in_papers_manner fgd2023 rlscheduler predictors changing_log ahead ahead_offline switching schema clean $(QUICKSTART)

quickstart: $(VENV)/installed ## Replay the embedded trace under five dispatchers, and compare them
	@$(MAKE) --no-print-directory --jobs 2 --output-sync $(LONGEST_FIRST)
	@$(BIN)/hpcsched compare $(QUICKSTART:%=runs/%)

$(QUICKSTART):
	@$(BIN)/hpcsched run scenarios/$@.yaml $(QUICKLY) --out runs/$@ --force

test: $(VENV)/installed-dev ## The tests, without the slow ones; see pyproject.toml for what is slow
	$(BIN)/pytest -n auto --dist worksteal

test-all: export HPCSCHED_EXAMPLES ?= 1
test-all: $(VENV)/installed-dev ## All tests, and ten times as many examples of each property
	$(BIN)/pytest -n auto --dist worksteal -m ""

# Debian's packages for a Slurm on the loopback interface, which the tests start and end.
SLURM_PACKAGES := slurm-wlm slurmctld slurmd slurm-client slurmrestd munge \
  slurm-wlm-basic-plugins slurm-wlm-jwt-plugin slurmdbd slurm-wlm-mysql-plugin mariadb-server

ON_SLURM = HPCSCHED_TEST_SLURM=1 $(if $(SLURM),tests/real_slurm/with_slurm.sh $(SLURM)) $(BIN)/pytest

# Debian has the daemons in /usr/sbin, which is not on everybody's path.
test-slurm: export PATH := $(PATH):/usr/sbin
# They mostly wait: more of them at a time than there are processors, each on a Slurm of its own.
test-slurm: $(VENV)/installed-dev ## Tests on a real Slurm, also of SLURM=24.11 or 26.05; or say why not
	@missing=; for program in slurmctld slurmrestd munged slurmdbd mariadbd; do \
	  command -v $$program >/dev/null || missing=$$program; \
	done; \
	if [ -z "$(SLURM)" ] && [ "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -q --no-install-recommends $(SLURM_PACKAGES) \
	    || echo "Slurm's packages could not be installed"; \
	fi
	$(ON_SLURM) -n 5 --dist worksteal tests/real_slurm \
	  || { echo "Once more, one by one: daemons on a busy machine may answer late."; \
	       $(ON_SLURM) --last-failed --last-failed-no-failures none tests/real_slurm; }

# Results are kept in build/, and workloads that have one are not run again.
test-slurm-long: export PATH := $(PATH):/usr/sbin
test-slurm-long: $(VENV)/installed-dev ## Eight workloads beside a real Slurm and an hour of forecasts, also of SLURM=26.05
	HPCSCHED_SLURM_SEEDS=8 HPCSCHED_SLURM_RESULTS=$(CURDIR)/build/beside-slurm-$(or $(SLURM),22.05) \
	  $(ON_SLURM) -n 2 -m "" tests/real_slurm/test_beside_slurm.py tests/real_slurm/test_published.py

lint: $(VENV)/installed-dev ## Style, types, storeys, unused code, and undeclared dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/deptry hpcsched
	MYPYPATH=plugins/hpcsched-example/src $(BIN)/mypy -p hpcsched_example
	MYPYPATH=plugins/hpcsched-learned/src $(BIN)/mypy -p hpcsched_learned
	MYPYPATH=plugins/hpcsched-slurm/src $(BIN)/mypy -p hpcsched_slurm

bench: $(VENV)/installed-dev ## Measure speed and memory, as ratios; see benchmarks/README.md
	$(BIN)/python -m benchmarks.whole_process
	$(BIN)/python -m benchmarks.core

SANITIZED := build/sanitize
SITE := import sysconfig; print(sysconfig.get_path("purelib"))

# Leaks are not looked for: Python itself keeps what it has at its end.
CHECKED = LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc $(SANITIZED)/bin/python

$(SANITIZED)/installed: $(VENV)/installed-dev
	$(PYTHON) -m venv $(SANITIZED)
	$(BIN)/python -c '$(SITE)' > $$($(SANITIZED)/bin/python -c '$(SITE)')/dependencies.pth
	$(SANITIZED)/bin/pip install --quiet --no-deps --no-build-isolation --editable . \
	  --config-settings cmake.define.SANITIZE=ON --config-settings build-dir=$(SANITIZED)/cmake
	$(SANITIZED)/bin/pip install --quiet --no-deps --no-build-isolation --editable plugins/hpcsched-slurm
	touch $@

sanitize: $(SANITIZED)/installed ## Tests of the compiled core, with ASan and UBSan in it
	$(CHECKED) -m pytest -q -p no:cacheprovider tests/dispatching/cp/backends/test_postpone.py \
	  tests/dispatching/cp/backends/test_search_problem.py \
	  $(addprefix tests/simulation/test_,$(addsuffix .py,against_events further_rules growth \
	    held_jobs latency priorities replay_branches shared_resources_in_core)) \
	  tests/dispatching/search/test_search_orders.py -k 'not models and not known_constraints'

# FOR= seconds.
fuzz: $(SANITIZED)/installed ## Random workloads in a compiled core with ASan and UBSan in it
	$(CHECKED) -m tests.fuzz.fuzz_replays $(or $(FOR),60)

# OF= packages or files, and OPTIONS= such as --sample 100 or --again; all without them.
mutation: $(VENV)/installed-mutation ## Mutation testing; see benchmarks/mutation/README.md
	$(BIN)/python -m benchmarks.mutation $(OF) $(OPTIONS)

debs2024 mod2017 cp2021 cpmpy_models in_papers_manner fgd2023: $(VENV)/installed ## Rerun a paper's comparison; see docs/experiments.md
	$(BIN)/hpcsched experiment experiments/$@.yaml
	$(BIN)/python experiments/$@.py

# Without order-search, which takes long on the large logs.
debs2024_logs: $(VENV)/installed ## Replay four logs of DEBS 2024; see docs/debs2024.md
	$(BIN)/hpcsched experiment experiments/$@.yaml --only List-REG --only List-SPF --only List-SAF \
	  --only List-SJF --only List-LAF --only EASY
	$(BIN)/python experiments/$@.py

predictors: $(VENV)/installed ## Replay two logs with every predictor; see docs/predictors.md
	$(BIN)/pip install --quiet --constraint constraints.txt plugins/hpcsched-learned
	$(BIN)/hpcsched experiment experiments/$@.yaml
	$(BIN)/python experiments/$@.py

rlscheduler: export HPCSCHED_RLSCHEDULER_LOGS := $(CURDIR)/build/rlscheduler_logs
rlscheduler: $(VENV)/installed ## Rerun the windows of RLScheduler; see docs/rlscheduler.md
	mkdir -p $(HPCSCHED_RLSCHEDULER_LOGS)
	$(BIN)/python experiments/rlscheduler_log.py "$(HPCSCHED_TRACES)" $(HPCSCHED_RLSCHEDULER_LOGS)
	$(BIN)/hpcsched experiment experiments/$@.yaml
	$(BIN)/python experiments/$@.py

changing_log: export HPCSCHED_CHANGING_LOGS := $(CURDIR)/build/changing_logs
changing_log: $(VENV)/installed ## Replay two logs that change in their middle; see docs/hyper.md
	mkdir -p $(HPCSCHED_CHANGING_LOGS)
	$(BIN)/python experiments/$@.py "$(HPCSCHED_TRACES)" $(HPCSCHED_CHANGING_LOGS)
	$(BIN)/hpcsched experiment experiments/$@.yaml
	$(BIN)/hpcsched compare runs/$@

# Part of it: ONLY='--only KTH-SP2-first --only hyper'; see docs/ahead.md.
ahead ahead_offline: $(VENV)/installed ## hyper beside seven rules on eleven logs; long; see docs/ahead.md
	$(BIN)/hpcsched experiment experiments/$@.yaml $(ONLY)
	$(BIN)/python experiments/$@.py

switching: $(VENV)/installed ## Settings of hyper beside the members of its portfolio; see docs/hyper.md
	$(BIN)/hpcsched experiment experiments/$@.yaml $(ONLY)
	$(BIN)/python experiments/$@.py

DISTRIBUTIONS := . $(wildcard plugins/*)

release: $(VENV)/installed-dev ## Build wheels and sdists of all distributions in dist/, and try them
	@test -z "$$(git status --porcelain)" || { echo "commit or remove your changes first" >&2; exit 1; }
	rm -rf dist
	for of in $(DISTRIBUTIONS); do \
	  $(BIN)/python -m build --no-isolation --outdir dist "$$of" || exit 1; \
	done
	for wheel in dist/*-linux_*.whl; do \
	  [ ! -e "$$wheel" ] || { PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist "$$wheel" \
	    && rm "$$wheel"; } || exit 1; \
	done
	HPCSCHED_DIST=$(CURDIR)/dist $(BIN)/pytest -m "" tests/release

# With what the repository's own packages bring: its scenarios use hpcsched-slurm.
WITH_OURS := HPCSCHED_EXTERNAL_PLUGINS=hpcsched-slurm

schema: $(VENV)/installed-dev ## Write the JSON Schemas anew
	$(WITH_OURS) $(BIN)/hpcsched schema --force --out schemas/scenario.schema.json
	$(WITH_OURS) $(BIN)/hpcsched schema --force --of experiment \
	  --out schemas/experiment.schema.json
	$(WITH_OURS) $(BIN)/hpcsched schema --force --of whatif --out schemas/whatif.schema.json
	$(WITH_OURS) $(BIN)/hpcsched schema --force --of tuning --out schemas/tuning.schema.json
	$(WITH_OURS) $(BIN)/hpcsched schema --force --of forecast --out schemas/forecast.schema.json

docs: $(VENV)/installed-dev ## Make the documentation as a site, in build/docs
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs
	@echo build/docs/index.html

CORE := $(shell find hpcsched/cpp -type f)
# In the environment itself, so that a changed source is all that is compiled again.
BUILD_TOOLS := hatchling nanobind scikit-build-core vl-convert-python \
  $(foreach tool,cmake ninja,$(if $(shell command -v $(tool)),,$(tool)))
INSTALL := $(BIN)/pip install --quiet --no-compile --constraint constraints.txt

# Modules are compiled as they are first imported: most of those installed never are.
$(VENV)/installed: pyproject.toml plugins/hpcsched-slurm/pyproject.toml constraints.txt $(CORE)
	@hpcsched/cpp/require-compiler $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) $(BUILD_TOOLS)
	$(INSTALL) --no-build-isolation --editable '.[figures]' --editable plugins/hpcsched-slurm
	touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.txt requirements-docs.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --requirement requirements-dev.txt
	touch $@

$(VENV)/installed-mutation: $(VENV)/installed-dev requirements-mutation.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --requirement requirements-mutation.txt
	touch $@

clean:
	rm -rf $(VENV) build dist runs .mypy_cache .pytest_cache .ruff_cache .hypothesis
