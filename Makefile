# `make demo` and `make test` set everything up by themselves, in .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test lint clean

demo: $(READY)
	$(BIN)/course grade examples/class --out build/demo --seed 1
	@echo
	$(BIN)/course check attention --submission examples/class/student-03 || test $$? -eq 1

test: lint
	$(BIN)/course validate
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/course build --check

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv build .course
