#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: installs Python and the requirements, and makes the answer keys.
# Fails if the solutions do not get full marks here.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
cd "$root/source"
if [ -z "${AUTOGRADER_PYTHON:-}" ]; then
  apt-get update && apt-get install --yes python3-pip
  python3 -m pip install uv || python3 -m pip install --break-system-packages uv
  uv venv --python 3.12 "$root/venv"
  # UV_EXTRA_INDEX_URL may name an index with a build of torch without CUDA: it saves gigabytes.
  uv pip install --python "$root/venv/bin/python" --index-strategy unsafe-best-match --requirement requirements.txt
fi
python="${AUTOGRADER_PYTHON:-$root/venv/bin/python}"
export PYTHONPATH="$root/source" PYTHONDONTWRITEBYTECODE=1
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/class"
cp -R solutions "$work/class/solutions"
"$python" -m autograder grade "$work/class" --layout plain --out "$work/out" \
  --isolation "${COURSE_ISOLATION:-sandbox}" || [ $? -eq 4 ]  # the solutions have no time, so lateness is not known
"$python" -c "import csv, sys
row = next(csv.DictReader(open(sys.argv[1], newline='')))
missed = float(row['score']) < float(row['max_score'])
sys.exit(missed and 'the solutions do not get full marks here')" "$work/out/scores.csv"
chmod -R go-rwx "$root/source"
# The user of the sandbox reads only the worker.
chmod go+rx "$root/source" "$root/source/autograder" "$root/source/autograder/sandbox"
chmod -R go+rX autograder/__init__.py autograder/faces.py autograder/checks autograder/edits autograder/protocol autograder/worker autograder/sandbox/__init__.py autograder/sandbox/confined
