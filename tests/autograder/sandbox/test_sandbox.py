"""The sandbox: every missing layer is noticed, and programs run in it as they do outside."""

import errno
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from autograder.judge import Grader
from autograder.protocol import SHIPPED
from autograder.runner import Runner, package_folders
from autograder.sandbox import Isolation, IsolationError, Launch, channels, open_isolation, prestarted_zygote
from autograder.sandbox.confined import layers as seccomp
from autograder.sandbox.confined.layers import MACHINES, WITH_CONDITIONS
from autograder.sandbox.isolation import LAYERS, Zygote, ZygotePool, _Slot, probe, request
from tests.support import tiny

pytestmark = pytest.mark.worker

confines = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("bwrap") is None, reason="needs Linux and bubblewrap"
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def isolation() -> Iterator[Isolation]:
    suite = tiny.SUITE
    with open_isolation(Runner(suite, seed=1).warm_up(), 1) as opened:
        yield opened


def zygotes_of(isolation: Isolation) -> ZygotePool:
    assert isolation.zygotes is not None
    return isolation.zygotes


@confines
@pytest.mark.smoke
def test_the_level_is_what_canaries_have_shown(isolation: Isolation) -> None:
    assert isolation.level in ("L2", "L3")
    assert isolation.name == "sandbox"
    assert probe(zygotes_of(isolation), isolation.level) == []


@confines
def test_libraries_that_are_reached_by_a_link_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = package_folders()
    links = [tmp_path / str(number) / Path(folder).name for number, folder in enumerate(folders)]
    for link, folder in zip(links, folders, strict=True):
        link.parent.mkdir()
        link.symlink_to(folder)
    others = [folder for folder in sys.path if os.path.realpath(folder) not in folders]
    monkeypatch.setattr(sys, "path", [*others, *map(str, links)])
    with open_isolation(Runner(tiny.SUITE, seed=1).warm_up(), 1) as opened:
        assert opened.level in ("L2", "L3")


NOTICED = {
    "session": "session",
    "descriptors": "open files",
    "namespaces": "other processes",
    "limits": "limits",
    "landlock": "own view",
    "privileges": "dumpable",
    "seccomp": "filter",
}


@confines
@pytest.mark.parametrize("layer", LAYERS["L3"])
def test_a_layer_that_is_missing_is_noticed(isolation: Isolation, layer: str) -> None:
    left = tuple(name for name in LAYERS[isolation.level] if name != layer)
    if left == LAYERS[isolation.level]:
        pytest.skip(f"{isolation.level} has no {layer}")
    through = probe(zygotes_of(isolation), isolation.level, left)
    assert [line for line in through if line.startswith(f"{NOTICED[layer]}: ")], through


@confines
def test_what_only_bubblewrap_hides_is_noticed(isolation: Isolation) -> None:
    """With nothing inside, the view of the sandbox still has neither the judge's files nor this machine's network."""
    through = probe(zygotes_of(isolation), isolation.level, ("session", "descriptors"))
    assert not [line for line in through if line.startswith(("secret", "folder", "network", "writing"))], through


def kill_one_of(zygotes: ZygotePool, *, first: bool) -> None:
    """Kill the zygote that gives children, or the one it was split off."""
    zygote = zygotes._first.zygote() if first else zygotes.some()
    zygote._channel.process.kill()


each_zygote = pytest.mark.parametrize("first", [False, True], ids=["split", "first"])


@confines
@each_zygote
def test_a_zygote_that_dies_costs_a_submission_nothing(isolation: Isolation, cache: Path, *, first: bool) -> None:
    with Grader(tiny.SUITE, seed=1, cache=cache, isolation=isolation) as grader:
        before = grader.grade(tiny.submitted())
        kill_one_of(zygotes_of(isolation), first=first)
        after = grader.grade(tiny.submitted())
    assert before.statuses == after.statuses == {"pass"}
    assert after.level == isolation.level


@confines
@each_zygote
def test_children_of_a_lost_zygote_are_distinguished_from_dead_ones(isolation: Isolation, *, first: bool) -> None:
    zygotes = zygotes_of(isolation)
    child = zygotes.fork(request(LAYERS[isolation.level]))
    kill_one_of(zygotes, first=first)
    assert child.wait(20) is not None
    assert child.lost
    child.close()


@pytest.mark.slow
@confines
def test_a_zygote_is_replaced_in_time(isolation: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.sandbox.isolation.MOST_CHILDREN", 2)
    zygotes = zygotes_of(isolation)
    seen = set()
    for _ in range(5):
        child = zygotes.fork(request(LAYERS[isolation.level]))
        seen.add(id(zygotes.some()))
        child.close()
        assert child.wait(20) is not None
    assert len(seen) >= 2


@pytest.mark.slow
@confines
@pytest.mark.parametrize("announced", [True, False])
def test_in_a_long_run_zygotes_are_split_off_anew(monkeypatch: pytest.MonkeyPatch, announced: bool) -> None:
    """The one they are split off has large pages then, and the children of the old ones live on."""
    monkeypatch.setattr("autograder.sandbox.isolation.LONG_RUN", 2)
    with open_isolation({"plan": []}, 1) as opened:
        zygotes, layers = zygotes_of(opened), request(LAYERS[opened.level])
        old, first = zygotes.some(), zygotes._first.zygote()
        children = [zygotes.fork(layers) for _ in range(1 if announced else 2)]
        if announced:
            opened.expect(2)
        until = time.monotonic() + 60
        while zygotes.some() is old and time.monotonic() < until:
            time.sleep(0.01)
        children.append(zygotes.fork(layers))
        assert zygotes.some() is not old
        assert zygotes._first.zygote() is first
        for child in children:
            child.close()
            assert child.wait(20) is not None
            assert not child.lost
        assert probe(zygotes, opened.level) == []


LARGE_PAGES = """
import re
from pathlib import Path
import torch
from autograder.sandbox.confined.zygote import enlarge

def large():
    return int(re.search(r"AnonHugePages: *([0-9]+) kB", Path("/proc/self/smaps_rollup").read_text())[1])

def work():
    torch.manual_seed(1)
    made = torch.nn.Linear(40, 40)(torch.randn(40, 40)).softmax(-1).sum(0)
    made.sum().backward()
    return made.tolist()

data, before, there = list(range(1 << 20)), work(), large()
for _ in range(2):
    enlarge()
    assert work() == before and sum(data) == 549755289600
print(there, large())
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_large_pages_change_nothing_but_the_pages() -> None:
    done = subprocess.run([sys.executable, "-c", LARGE_PAGES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    release = tuple(map(int, platform.release().split("-")[0].split(".")[:2]))
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    given = setting.is_file() and "[never]" not in setting.read_text()
    if given and platform.machine() == "x86_64" and release >= (6, 1):
        assert after >= before + 8192  # the list alone is of 8 MiB


@pytest.mark.slow
@confines
def test_zygotes_share_what_they_have_loaded() -> None:
    """One loads torch, and the others are split off it, so that a job more costs neither time nor memory."""
    with open_isolation({"plan": []}, 3) as opened:
        zygotes = zygotes_of(opened)
        numbers = {slot.zygote().facts["pid"] for slot in zygotes._slots}
        children = [zygotes.fork(request(LAYERS[opened.level])) for _ in range(3)]
        assert len(numbers) == 3
        assert zygotes._first.zygote().facts["pid"] not in numbers
        assert zygotes._first.zygote().forks == 3
        for child in children:
            child.close()
            assert child.wait(20) is not None


def relay_in_bubblewrap() -> list[str]:
    """Return a command that runs a relay, as a container would."""
    relay = [argument.replace("zygote.py", "relay.py") for argument in Launch(outer=True).command(0)]
    place = next(number for number, argument in enumerate(relay) if argument.endswith("relay.py"))
    del relay[place + 1]
    return relay


@confines
@pytest.mark.parametrize("relayed", [False, True], ids=["passed", "relayed"])
def test_a_zygote_outlives_the_thread_that_asked_for_it(isolation: Isolation, *, relayed: bool) -> None:
    launch = relay_in_bubblewrap() if relayed else Launch(outer=shutil.which("bwrap") is not None)
    zygotes = ZygotePool(launch, {"plan": []}, 1)
    asking = threading.Thread(target=zygotes._slots[0].start)
    asking.start()
    asking.join()
    zygote = zygotes._slots[0]._current
    child = zygotes.fork(request(LAYERS[isolation.level]))
    child.close()
    assert child.wait(20) is not None
    assert zygotes.some() is zygote
    zygotes.close()


@confines
def test_a_zygote_that_was_started_early_is_used() -> None:
    launch = Launch(outer=True)
    with prestarted_zygote(launch):
        begun = channels._PRESTARTED[launch].process
        zygotes = ZygotePool(launch, {"plan": []}, 1)
        assert zygotes._first.zygote()._channel.process is begun
        assert zygotes.some().alive
    assert begun.poll() is None
    zygotes.close()
    assert begun.poll() is not None


@confines
def test_a_zygote_that_nobody_needs_is_killed() -> None:
    launch = Launch(outer=True)
    with prestarted_zygote(launch):
        begun = channels._PRESTARTED[launch].process
    assert begun.poll() is not None
    assert not channels._PRESTARTED


@pytest.mark.slow
@confines
def test_a_zygote_that_cannot_be_warmed_up_is_killed_and_the_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    lost: list[object] = []
    monkeypatch.setattr("autograder.sandbox.isolation.tempfile.TemporaryFile", full)
    monkeypatch.setattr(threading, "excepthook", lost.append)
    launch = Launch(outer=True)
    with prestarted_zygote(launch):
        begun = channels._PRESTARTED[launch].process
        slot = _Slot(partial(Zygote.start, launch, {"plan": []}))
        slot.start()
        thread = threading.Thread(target=slot.start)
        thread.start()
        thread.join()
        with pytest.raises(OSError, match="No space left"):
            slot.zygote()
    assert (lost, begun.poll() is not None) == ([], True)


@confines
def test_no_process_is_left_behind() -> None:
    with open_isolation({"plan": []}, 1) as opened:
        zygote = zygotes_of(opened).some()
        child = zygote.fork(request(LAYERS[opened.level]))
        started = zygotes_of(opened)._first.zygote()._channel.process
        assert isinstance(started, subprocess.Popen)
    assert child.wait(20) is not None
    assert not Path(f"/proc/{started.pid}").exists()


@confines
def test_the_log_of_a_zygote_is_closed() -> None:
    zygote = Zygote.start(Launch(outer=True), {"plan": []})
    started = zygote._channel.process
    assert isinstance(started, subprocess.Popen)
    zygote.close()
    assert started.stderr is not None
    for _ in range(2000):
        if started.stderr.closed:
            break
        time.sleep(0.01)
    assert started.stderr.closed


def test_without_any_means_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: Launch, channel: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("autograder.sandbox.isolation.bubblewrap_problem", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(Launch, "start", start)
    with pytest.raises(IsolationError, match=r"bubblewrap is not installed.*L2 does not hold.*Permission denied"):
        open_isolation({"plan": []}, 1)


def decide(program: list[seccomp.Instruction], architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run a filter as the kernel does."""
    data = {0: number, 4: architecture, **{16 + 8 * place: value for place, value in enumerate(arguments)}}
    accumulator = at = 0
    while True:
        code, yes, no, constant = program[at]
        at += 1
        match code:
            case 0x20:
                accumulator = data.get(constant, 0)
            case 0x54:
                accumulator &= constant
            case 0x15 | 0x35 | 0x25:
                holds = {0x15: accumulator == constant, 0x35: accumulator >= constant, 0x25: accumulator > constant}
                at += yes if holds[code] else no
            case 0x06:
                return constant
            case other:
                raise AssertionError(other)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_allows_what_is_listed_and_nothing_else(machine: str) -> None:
    architecture, numbers = MACHINES[machine]
    program = seccomp.program_for(machine, 7)
    free = {number for name, number in numbers.items() if name not in WITH_CONDITIONS}
    for number in range(1000):
        allowed = decide(program, architecture, number, (0, 0xFFFF)) == seccomp.ALLOW
        asked = number in {numbers[name] for name in ("prlimit64",)}
        assert allowed == (number in free or asked), number
    assert decide(program, architecture ^ 1, 0) == seccomp.KILL
    assert decide(program, architecture, 0x40000000) == seccomp.KILL
    assert all(yes < 256 and no < 256 for _, yes, no, _ in program)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_looks_at_arguments(machine: str) -> None:
    architecture, numbers = MACHINES[machine]
    program = seccomp.program_for(machine, 7)

    def allows(name: str, *arguments: int) -> bool:
        return decide(program, architecture, numbers[name], arguments) == seccomp.ALLOW

    thread, new_user, child = 0x3D0F00, 0x10000000, 17
    assert allows("clone", thread)
    assert not allows("clone", child)
    assert not allows("clone", thread | new_user)
    assert allows("kill", 7)
    assert not any(allows("kill", other) for other in (0, 1, 6, 0xFFFFFFFF))
    assert allows("tgkill", 7)
    assert not allows("tgkill", 1)
    assert not allows("prlimit64", 1)
    assert allows("ioctl", 0, 0x5401)
    assert not allows("ioctl", 0, 0x5412)  # TIOCSTI types into a terminal
    assert not allows("prctl", 4)  # PR_SET_DUMPABLE
    assert not allows("clone3")


def test_a_processor_without_a_table_is_refused() -> None:
    with pytest.raises(OSError, match="no list of system calls for the processor riscv64"):
        seccomp.program_for("riscv64", 1)


@pytest.mark.slow
@confines
def test_the_same_goes_over_a_pair_of_streams(cache: Path) -> None:
    """As in a container, which no descriptor can be passed into: here one of bubblewrap's."""
    relay = relay_in_bubblewrap()
    with open_isolation(Runner(tiny.SUITE, seed=1).warm_up(), 1, relay) as opened:
        with Grader(tiny.SUITE, seed=1, cache=cache, isolation=opened) as grader:
            assert grader.grade(tiny.submitted()).statuses == {"pass"}
            endless = tiny.submitted(tiny.mean_with("while True: pass"))
            assert "timeout" in {
                check.status for exercise in grader.grade(endless).exercises for check in exercise.checks
            }
            assert grader.grade(tiny.submitted()).statuses == {"pass"}
        assert opened.level in ("L2", "L3")


@confines
def test_a_submission_is_graded_in_it_as_outside(isolation: Isolation, cache: Path) -> None:
    with (
        Grader(tiny.SUITE, seed=1, cache=cache, isolation=isolation) as inside,
        Grader(tiny.SUITE, seed=1, cache=cache) as outside,
    ):
        for submission in (tiny.submitted(), tiny.submitted(tiny.mean_with("return x * 2"))):
            confined, plain = inside.grade(submission), outside.grade(submission)
            assert [exercise.status for exercise in confined.exercises] == [
                exercise.status for exercise in plain.exercises
            ]
            assert confined.score == plain.score
            assert (confined.isolation, plain.isolation) == ("sandbox", "process")


@confines
def test_the_order_of_sets_is_the_same_in_it_as_outside(isolation: Isolation, cache: Path) -> None:
    program = [sys.executable, "-c", "print(hash('a'))"]
    fixed = subprocess.run(program, env={"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True).stdout
    submission = tiny.submitted(tiny.mean_with(f"return x.cumsum(dim=-1) / (count if hash('a') == {fixed} else 1)"))
    with Grader(tiny.SUITE, seed=1, cache=cache, isolation=isolation) as grader:
        assert grader.grade(submission).statuses == {"pass"}


def test_the_image_of_a_container_has_all_that_a_worker_needs() -> None:
    file = tiny.REPOSITORY / "autograder" / "sandbox" / "confined" / "Containerfile"
    copied = re.findall(r"^COPY autograder/(\S+) /kit/autograder/(\S+)$", file.read_text("utf-8"), re.MULTILINE)
    assert [source for source, _ in copied] == [target for _, target in copied] == list(SHIPPED)
