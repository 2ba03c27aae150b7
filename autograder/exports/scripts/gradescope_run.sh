#!/usr/bin/env bash
# Grades $root/submission. Writes results/results.json first, so that it exists whatever happens.
set -u
root="${AUTOGRADER_ROOT:-/autograder}"
python="${AUTOGRADER_PYTHON:-$root/venv/bin/python}"
export PYTHONPATH="$root/source" PYTHONDONTWRITEBYTECODE=1
cd "$root/source" || exit 1
mkdir -p "$root/results"
cp unfinished.json "$root/results/results.json"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/class"
cp -R "$root/submission" "$work/class/submission"
"$python" -m autograder grade "$work/class" --layout plain --out "$work/out" --isolation "${COURSE_ISOLATION:-sandbox}"
"$python" -m autograder export gradescope "$work/out" --to "$root/results/results.json" \
  --metadata "$root/submission_metadata.json" --visibility "${COURSE_VISIBILITY:-visible}"
exit 0  # results.json has the outcome
