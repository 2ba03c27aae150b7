# `make demo` and `make test` set everything up by themselves, in .venv.

PYTHON ?= python3
MINUTES ?= 10
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test proof attack compat docs lint fuzz clean

demo: $(READY)
	$(BIN)/course grade examples/class --out build/demo --seed 1 $$(command -v bwrap >/dev/null || echo --isolation process)
	@echo
	$(BIN)/course check attention --submission examples/class/student-03 || test $$? -eq 1

test: lint
	mkdir -p build
	$(BIN)/course validate --once 16 --places 8 --page build/misconceptions.md
	diff -u docs/misconceptions.md build/misconceptions.md
	$(BIN)/course validate --seed 1 --sizes tests/other_sizes.toml
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# Proofs that take long. Each line is a proof of its own; copies of the course that they make are trusted.
proof: export COURSE_TRUST = 1
proof: $(READY)
	COURSE_STOPS=200 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -s tests/autograder/cli/test_stopping.py
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.proof.kit_answers
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.proof.hanging
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.proof.ways
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.proof.mutation

# Every attack of tests/attacks, at the level this machine grades at.
attack: $(READY)
	$(BIN)/python -m tests.proof.attacks

# The oldest and the newest versions that are supported, each in an environment of its own: downloads gigabytes.
# PYTHON_OLD and PYTHON_NEW name the interpreters if python3.11 and python3.13 are not found.
compat: $(READY)
	$(BIN)/python -m tests.compat

# Generated pages and pictures.
docs: $(READY)
	$(BIN)/course validate --page docs/misconceptions.md
	$(BIN)/python docs/pictures/draw.py docs/pictures/pictures.toml

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/course build --check

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@command -v bwrap >/dev/null || (test $$(id -u) = 0 && apt-get install --yes --quiet bubblewrap >/dev/null 2>&1) || \
		echo "bubblewrap is not installed, so what is graded here is not confined: apt install bubblewrap"
	touch $@

# Look for crashes in all that reads what students send, for so many minutes.
fuzz: $(READY)
	$(BIN)/python tests/fuzz --minutes $(MINUTES)

clean:
	rm -rf .venv build .course
