"""Look for crashes for some minutes: run the fuzz tests again and again, each time with new examples.

    python tests/fuzz --minutes 10

If atheris is installed (`pip install atheris`, Linux), a quarter of the time goes to coverage-guided fuzzing of frames
and zips; its corpus stays in build/fuzz. Exits with 1 if it found a crash.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGETS = ("frames", "zips")


def main() -> None:
    """Fuzz until the time is over, or a crash is found."""
    parser = argparse.ArgumentParser(description="Look for crashes in everything that reads what students send.")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N", help="for how long (10)")
    seconds = parser.parse_args().minutes * 60
    guided = importlib.util.find_spec("atheris") is not None
    if not guided:
        print("atheris is not installed: no coverage-guided fuzzing")
    for target in TARGETS if guided else ():
        guided_by_coverage(target, seconds / 4 / len(TARGETS))
    rounds(time.monotonic() + seconds * (3 / 4 if guided else 1))


def rounds(until: float) -> None:
    """Run the fuzz tests round by round, each with a new seed; the first round runs even if the time is over."""
    tests = sorted(str(file) for file in (ROOT / "tests" / "autograder").rglob("test_fuzz_*.py"))
    environment = {**os.environ, "FUZZ_ANEW": "1"}
    number = 0
    while number == 0 or time.monotonic() < until:
        number += 1
        seed = int.from_bytes(os.urandom(4), "big")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=short", f"--hypothesis-seed={seed}", *tests]
        failed = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if failed:
            sys.exit(f"round {number} found a crash: FUZZ_ANEW=1 {' '.join(command)}")
    print(f"{number} rounds of the fuzz tests, no crash found")


def guided_by_coverage(target: str, seconds: float) -> None:
    """Fuzz one target. Inputs that reached new code stay in the corpus for the next time."""
    corpus = ROOT / "build" / "fuzz" / target
    corpus.mkdir(parents=True, exist_ok=True)
    program = Path(__file__).with_name("guided.py")
    options = [f"-max_total_time={max(seconds, 1):.0f}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048"]
    options += [f"-artifact_prefix={corpus.parent}/found-{target}-", "-print_final_stats=1", "-verbosity=0"]
    done = subprocess.run([sys.executable, program, target, *options, corpus], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{target}: found a crash; its input is in {corpus.parent}")


if __name__ == "__main__":
    main()
