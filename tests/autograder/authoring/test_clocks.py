"""The clocks that the code of a check reads."""

import datetime as dates
import os
import platform
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import date, datetime
from os import cpu_count, environ
from typing import Any

import pytest

from autograder.authoring.oversights import code_reads_machine, reads_date, reads_draws, reads_machine

SQL = "UPDATE people SET seen = strftime('%H:%M', 'now')"


def days() -> int:
    return int(time.time()) // 86400


def imported(impl: Any) -> Any:
    import time as clock

    return impl(clock.time())


def documented(impl: Any) -> Any:
    """Read no CURRENT_DATE."""
    return impl(date(2020, 1, 1), datetime(2020, 1, 1).strftime("%Y"), "now")


@pytest.mark.parametrize(
    "probe",
    [
        lambda impl: impl(days()),
        lambda impl: impl(time.strftime("%H:%M")),
        lambda impl: impl(date.today()),
        lambda impl: impl(dates.datetime.now().hour),
        imported,
        lambda impl: impl(SQL),
        lambda impl: impl("SELECT date( 'now')"),
        lambda impl: impl("CREATE TABLE t (at TEXT DEFAULT current_timestamp)"),
        lambda impl: impl("SELECT julianday()"),
        lambda impl: [impl(text) for text in ("SELECT CURRENT_DATE", "SELECT 1")],
    ],
)
def test_what_gives_the_date_or_the_time_of_day_is_found(probe: Callable[[Any], Any]) -> None:
    assert reads_date(probe)


@pytest.mark.parametrize(
    "probe",
    [
        documented,
        lambda impl: impl("SELECT date('2020-01-01'), 'it is now'"),
        lambda impl: impl(time.sleep(0)),
        lambda impl: impl(time.strptime("2020", "%Y")),
    ],
)
def test_a_fixed_date_is_no_clock(probe: Callable[[Any], Any]) -> None:
    assert not reads_date(probe)
    assert not reads_draws(probe)


@pytest.mark.parametrize("probe", [lambda impl: impl(time.perf_counter()), lambda impl: impl(secrets.token_hex(2))])
def test_a_timer_is_no_date_but_differs_from_run_to_run(probe: Callable[[Any], Any]) -> None:
    assert reads_draws(probe)
    assert not reads_date(probe)


@pytest.mark.parametrize(
    ("probe", "names"),
    [
        (lambda impl: impl(os.environ.get("USER")), {"os.environ": "an environment variable"}),
        (lambda impl: impl(environ["USER"]), {"os.environ": "an environment variable"}),
        (lambda impl: impl(cpu_count()), {"os.cpu_count": "the number of processors"}),
        (lambda impl: impl(sys.version_info.minor), {"sys.version_info": "the version of Python"}),
        (lambda impl: impl(platform.node()), {"platform.node": "the kind of machine"}),
        (lambda impl: impl(socket.gethostname()), {"socket.gethostname": "the kind of machine"}),
        (lambda impl: impl(threading.get_ident()), {"threading.get_ident": "the number of the thread"}),
        (lambda impl: impl(os.sep, sys.maxsize), {}),
    ],
)
def test_what_differs_from_machine_to_machine_is_named(probe: Callable[[Any], Any], names: dict[str, str]) -> None:
    assert reads_machine(probe) == names


def test_a_variable_that_is_set_is_not_read() -> None:
    assert code_reads_machine(compile("import os\nos.environ.setdefault('A', '1')", "a.py", "exec"), {}) == {}
    assert code_reads_machine(compile("import os\nx = os.environ['A']", "a.py", "exec"), {})
