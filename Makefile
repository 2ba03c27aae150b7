# `make learn` installs what a learner needs, `make setup` everything else too: in .venv, once, before any other target.

PYTHON ?= python3
MINUTES ?= 10
BIN := .venv/bin
LEARN := .venv/learn
READY := .venv/ready
FIELD := .venv/field
ALONE := OMP_NUM_THREADS=1
PYTEST := $(ALONE) $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations=20
SAMPLE := 5 17 19
QUICK := not worker and not slow and not nbgrader and not browser

define SANDBOX
@command -v bwrap >/dev/null || (test $$(id -u) = 0 && apt-get install --yes --quiet bubblewrap >/dev/null 2>&1) || \
	echo "bubblewrap is not installed, so what is graded here is not confined: apt install bubblewrap"
endef

# Keep what Python compiles: the tests start many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: learn setup dist demo check test proof proof-short slow field attack compat coverage docs lint fuzz clean

learn: $(LEARN)
	@echo
	@echo "Ready. Next: source .venv/bin/activate && course"

setup: $(READY)

demo: $(LEARN)
	$(SANDBOX)
	$(BIN)/course grade examples/class --take one --out build/demo --seed 1 $$(command -v bwrap >/dev/null || echo --isolation process)
	@echo
	$(BIN)/course check attention --submission examples/class/student-03 || test $$? -eq 1

# The wheel to publish: the engine, with the kit that `course start` lays out.
dist: $(READY)
	$(BIN)/course release build/dist --wheel

# The short loop: what starts no process and takes no seconds.
check: lint
	$(PYTEST) --dist worksteal -m "($(QUICK)) and not long"

# Everything that starts no process, and the main commands as a user starts them.
test: lint
	$(PYTEST) --dist worksteal -m "($(QUICK)) or smoke"

# Every promise. Each line is a proof of its own; copies of the course that they make are trusted.
proof: export COURSE_TRUST = 1
proof: export PROOF = all
proof: proof-short slow field
	$(BIN)/course validate --seed 2
	$(BIN)/course validate --seed 3 --sizes tests/other_sizes.toml
	$(BIN)/course validate --once --styles 25 --ported
	COURSE_STOPS=200 $(ALONE) $(BIN)/python -m pytest -s tests/autograder/cli/test_stopping.py
	$(BIN)/python tests/fuzz --minutes $(MINUTES)
	$(BIN)/python -m tests.proof.attacks
	$(ALONE) $(BIN)/python -m tests.proof.kit_answers
	$(ALONE) $(BIN)/python -m tests.proof.hanging
	$(ALONE) $(BIN)/python -m tests.proof.ways
	$(ALONE) $(BIN)/python -m tests.proof.hunts
	$(BIN)/course mutate

# The proof of the course, part of that of other seeds, and the tests that neither `test` nor `slow` runs.
# The sample has an exercise of each part, and one that needs both: a mistake in one of them could cost points twice.
proof-short: export COURSE_TRUST = 1
proof-short: $(READY)
	mkdir -p build
	$(BIN)/course validate --page build/misconceptions.md
	diff -u docs/misconceptions.md build/misconceptions.md
	$(BIN)/course validate $(SAMPLE) --seed 1 --sizes tests/other_sizes.toml --once 24 --places 16
	FUZZ_FULL=1 $(PYTEST) -m "not ($(QUICK)) and not smoke and not slow"

# The tests that prove a promise in many seconds.
slow: export COURSE_TRUST = 1
slow: $(READY)
	$(PYTEST) -m "slow and not smoke"

# Exercises beside the libraries that others use: tokenizers, transformers, peft and more. Downloads them once.
field: $(FIELD)
	$(PYTEST) -p no:autograder -m field tests/field

# Every attack of tests/attacks, at the level this machine grades at.
attack: $(READY)
	$(BIN)/python -m tests.proof.attacks

# The oldest and the newest versions that are supported, each in an environment of its own: downloads gigabytes.
# PYTHON_OLD and PYTHON_NEW name the interpreters if python3.11 and python3.14 are not found.
compat: $(READY)
	$(BIN)/python -m tests.compat

# What the tests of `make test` reach in their own process: workers and commands that they start are not measured.
# The plugin of the kit would import the engine before the measurement begins.
coverage: $(READY)
	$(PYTEST) -m "not slow" -p no:autograder --cov --cov-report term --cov-report html:build/coverage

# Generated pages and pictures.
docs: $(READY)
	$(BIN)/course validate --page docs/misconceptions.md
	$(BIN)/python docs/pictures/draw.py docs/pictures/pictures.toml

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy & types=$$!; $(BIN)/course build --check; built=$$?; wait $$types && exit $$built

$(LEARN): pyproject.toml constraints.txt
	@$(PYTHON) install.py learn
	@touch $@

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) install.py dev
	$(SANDBOX)
	@touch $(LEARN) $@

$(FIELD): $(READY)
	@$(PYTHON) install.py field
	@touch $@

# Look for crashes in all that reads what students send, for so many minutes.
fuzz: $(READY)
	$(BIN)/python tests/fuzz --minutes $(MINUTES)

clean:
	rm -rf .venv build .course
