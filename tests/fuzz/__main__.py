"""Look for crashes for as long as you like: the fuzz tests again and again, each time with other examples.

    python tests/fuzz --minutes 10

Where atheris is installed (`pip install atheris`, Linux), a quarter of the time goes to fuzzing that is guided by
coverage, of frames and of zips; what it learns stays in build/fuzz. Exits with 1 where something was found.
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
    """Fuzz until the time is over, or something is found."""
    parser = argparse.ArgumentParser(description="Look for crashes in everything that reads what students send.")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N", help="for how long (10)")
    seconds = parser.parse_args().minutes * 60
    guided = importlib.util.find_spec("atheris") is not None
    if not guided:
        print("atheris is not installed: no fuzzing guided by coverage")
    for target in TARGETS if guided else ():
        guided_by_coverage(target, seconds / 4 / len(TARGETS))
    rounds(time.monotonic() + seconds * (3 / 4 if guided else 1))


def rounds(until: float) -> None:
    """Run the fuzz tests round by round, each with a seed of its own; the first round is run however late it is."""
    tests = sorted(str(file) for file in (ROOT / "tests" / "autograder").rglob("test_fuzz_*.py"))
    environment = {**os.environ, "FUZZ_ANEW": "1"}
    number = 0
    while number == 0 or time.monotonic() < until:
        number += 1
        seed = int.from_bytes(os.urandom(4), "big")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=short", f"--hypothesis-seed={seed}", *tests]
        found = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if found:
            sys.exit(f"round {number} found something: FUZZ_ANEW=1 {' '.join(command)}")
    print(f"{number} rounds of the fuzz tests, nothing found")


def guided_by_coverage(target: str, seconds: float) -> None:
    """Fuzz one target; it keeps what reached new code, and begins with that the next time."""
    corpus = ROOT / "build" / "fuzz" / target
    corpus.mkdir(parents=True, exist_ok=True)
    program = Path(__file__).with_name("guided.py")
    options = [f"-max_total_time={max(seconds, 1):.0f}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048"]
    options += [f"-artifact_prefix={corpus.parent}/found-{target}-", "-print_final_stats=1", "-verbosity=0"]
    done = subprocess.run([sys.executable, program, target, *options, corpus], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{target}: something was found; it lies in {corpus.parent}")


if __name__ == "__main__":
    main()
