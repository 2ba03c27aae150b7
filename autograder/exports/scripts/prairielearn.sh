#!/bin/sh
# Grades /grade/student with the kit, as a user without rights, and then writes /grade/results/results.json.
# Arguments are the exercises to check, for a question about one: /course/grade.sh 05. Without any, all are checked.
set -eu
grade="${GRADE_ROOT:-/grade}"
cd "${COURSE_KIT:-/course/kit}"
[ $# -gt 0 ] || set -- --all
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp -R "$grade/student" "$work/student"
as=""
if [ "$(id -u)" = 0 ]; then
  chown -R 65534:65534 "$work"
  as="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
export HOME="$work" TMPDIR="$work" PYTHONDONTWRITEBYTECODE=1
status=0
$as python -m autograder check "$@" --plain --no-questions --submission "$work/student" --json "$work/report.json" \
  > "$work/log" || status=$?
[ "$status" -le 1 ] && [ -s "$work/report.json" ] || exit 4  # the checks could not run: no score
rm -rf "$grade/results"
mkdir -p "$grade/results"
python -m autograder export prairielearn "$work/report.json" --to "$grade/results/results.json"
