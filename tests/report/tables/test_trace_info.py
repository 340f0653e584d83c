"""Figures of traces, and recorded waits."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from functools import partial

import yaml

from hpcsched.dispatching.wait_statistics import WaitClassStatistics, WaitStatistics
from hpcsched.report.tables.trace_info import (
    TraceInfo,
    trace_content,
    trace_table,
    waits_as_json,
    waits_as_yaml,
)
from hpcsched.workload.job import TracedJob, WaitClass
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from hpcsched.workload.trace_calendar import Calendar
from hpcsched.workload.trace_source import TraceAccount
from hpcsched.workload.trace_statistics import (
    StatisticsCounter,
    trace_statistics,
)
from tests.builders import alike, traced

SYSTEM = alike(2, core=4, mem=100)
# Monday 0 h, Monday 1 h, and Tuesday 0 h; 1, 2 and 4 units for 60, 3,600 and 20,000 s.
JOBS = (
    traced(1, 0, 1, 60, (1, 0), user=1),
    traced(2, 3600, 2, 3600, (1, 50), requested_time=7200, user=1),
    traced(3, 86_400, 4, 20_000, (1, 0)),
)


def infos_of(*traces: Sequence[TracedJob], bounds: Sequence[int] = (3600,)) -> list[TraceInfo]:
    """Return the figures of traces called a, b, and so on."""
    account = TraceAccount(1003, 1000, Counter(zero_run_time=3), Counter(late=2))
    sources = [SyntheticSource(partial(iter, jobs), SYSTEM) for jobs in traces]
    counted = [trace_statistics(source, SYSTEM, bounds) for source in sources]
    return [TraceInfo(name, account, one) for name, one in zip("abc", counted, strict=False)]


def cells(infos: Sequence[TraceInfo]) -> dict[tuple[str, str], list[str]]:
    """Return the cells of the table by section and label."""
    rows = trace_table(infos).content()["rows"]
    names = [info.name for info in infos]
    return {(row["section"], row[""]): [row[name] for name in names] for row in rows}


def test_one_trace() -> None:
    """Counts, times and shares with their units."""
    found = {label: cell for (_, label), (cell,) in cells(infos_of(JOBS)).items()}
    expected = {
        "read": "1,003",
        "skipped: zero_run_time": "3",
        "clipped: late": "2",
        "submitted": "1,000",
        "jobs": "3",
        "first submission": "0 s",
        "span": "86,400 s",
        "span in days": "1",
        # (3,600 + 82,800) / 2
        "interarrival time, mean": "43,200 s",
        "users": "1",
        "users with several jobs": "100.0 %",
        "jobs without user": "1",
        # Of 8 cores for 86,400 s: 60 + 7,200 + 80,000 core-seconds.
        "core": "12.6 %",
        # Of 200 for 86,400 s: 2 units of 50 for 3,600 s.
        "mem": "2.1 %",
        "jobs: short (0 to 3,599 s)": "33.3 %",
        "jobs: long (3,600 s and more)": "66.7 %",
        # 60 of 23,660 s
        "run time: short (0 to 3,599 s)": "0.3 %",
        "one unit": "33.3 %",
        "a power of two (1 is one)": "100.0 %",
        "units, mean": "2.33",
        "core: jobs": "2",
        "core: mean run time": "10,030 s",
        # 3,600 s in one of three jobs
        "mean absolute error": "20.0 min",
        "exact": "66.7 %",
        "ratio, p25": "0.50",
        "ratio, p50": "1",
    }
    assert {label: found.get(label) for label in expected} == expected


def test_cycles_have_bars() -> None:
    """The largest share has the longest bar, of 10 characters; half of it 5."""
    found = cells(infos_of(JOBS))
    assert found["jobs by hour of day", "00 h"] == ["██████████  66.7 %"]
    assert found["jobs by hour of day", "01 h"] == ["█████       33.3 %"]
    assert found["jobs by hour of day", "23 h"] == ["             0.0 %"]
    assert found["jobs by weekday", "Monday"] == ["██████████  66.7 %"]
    assert not any(section == "jobs by month" for section, _ in found)


def test_months_of_a_trace_with_a_date() -> None:
    """September 1996 has all jobs, beside a trace without a date."""
    counter = StatisticsCounter(SYSTEM, (3600,), Calendar(843_480_031, UTC, "a date"))
    for batch in columns_of(JOBS, RequestNumbers()):
        counter.add(batch)
    (alone,) = infos_of(JOBS)
    dated = replace(alone, name="b", statistics=counter.result())
    assert cells([dated])["jobs by month", "Sep"] == ["██████████ 100.0 %"]
    assert cells([dated, alone])["jobs by month", "Sep"] == ["██████████ 100.0 %", "–"]


def test_traces_side_by_side() -> None:
    """A row that a trace lacks shows a dash there."""
    # Only the first job, twelve hours later.
    moved = [TracedJob(JOBS[0].job._replace(submit_time=43_200), 60)]
    infos = infos_of(JOBS, moved)
    found = cells(infos)
    assert found["sizes, in units per job", "core+mem: jobs"] == ["1", "–"]
    assert found["offered load, of capacity × span", "core"] == ["12.6 %", "–"]


def test_no_jobs() -> None:
    """A trace without jobs has counts of 0 and dashes, and no bars."""
    found = cells(infos_of([]))
    assert found["submissions", "jobs"] == ["0"]
    assert found["submissions", "first submission"] == ["–"]
    assert found["jobs by weekday", "Sunday"] == ["             0.0 %"]
    assert "█" not in str(found)


def test_notes() -> None:
    """Each trace says from what its hours are counted."""
    alone, two = (trace_table(infos_of(*[JOBS] * count)).notes for count in (1, 2))
    assert sum(note.startswith(("a: hours", "b: hours")) for note in alone) == 1
    assert sum(note.startswith(("a: hours", "b: hours")) for note in two) == 2


def test_content() -> None:
    """JSON has exact figures, and names of classes; more than three classes are numbered."""
    _, second = infos_of(JOBS, JOBS)
    content = json.loads(json.dumps(trace_content(second)))
    assert content["scenario"] == "b"
    assert content["records"] == {
        "read": 1003,
        "skipped": {"zero_run_time": 3},
        "clipped": {"late": 2},
        "changed": {},
        "submitted": 1000,
    }
    assert content["accuracy"]["mean_absolute_error_minutes"] == 20
    assert [c["class"] for c in content["run_times"]["classes"]] == ["short", "long"]
    (many,) = infos_of(JOBS, bounds=(60, 600, 6000))
    names = [c["class"] for c in trace_content(many)["run_times"]["classes"]]
    assert names == ["class 1", "class 2", "class 3", "class 4"]


# Queue 2: 90 s / 3 jobs = 30 s; queue 10: 20 s / 2 jobs = 10 s; all: 110 s / 5 jobs = 22 s.
QUEUES = WaitStatistics(
    WaitClass.QUEUE,
    1205,
    1200,
    WaitClassStatistics(5, 110),
    {10: WaitClassStatistics(2, 20, 'the "fat" one'), 2: WaitClassStatistics(3, 90)},
)
EXPECTED = {"other": 22, "by_queue": {2: 30, 10: 10}}


def test_json_is_one_line() -> None:
    """It can stand on a command line; JSON has its numbers of queues as text."""
    text = waits_as_json(QUEUES)
    assert "\n" not in text
    assert json.loads(text) == {"other": 22, "by_queue": {"2": 30, "10": 10}}


def test_yaml_reads_back() -> None:
    """The comments, even with quotes in a name, change no value; classes ascend by number."""
    text = waits_as_yaml(QUEUES, "kth")
    assert yaml.safe_load(text) == {"expected_wait": EXPECTED}
    assert text.splitlines() == [
        "# kth: mean recorded waits by queue, in seconds",
        "# 1,200 of 1,205 jobs have no recorded wait: left out",
        "expected_wait:",
        "  other: 22  # all 5 jobs",
        "  by_queue:",
        "    2: 30  # 3 jobs",
        '    10: 10  # 2 jobs, "the \\"fat\\" one"',
    ]


def test_classes_by_size_say_their_sizes() -> None:
    """Class 1 has only the size 1; larger classes begin at their number."""
    waits = {1: WaitClassStatistics(4, 40), 2: WaitClassStatistics(1, 7)}
    sizes = WaitStatistics(WaitClass.UNITS, 5, 0, WaitClassStatistics(5, 47), waits)
    assert waits_as_yaml(sizes, "kth").splitlines()[1:] == [
        "expected_wait:",
        "  other: 9  # all 5 jobs",
        "  by_units:",
        "    1: 10  # 4 jobs, of 1 unit",
        "    2: 7  # 1 jobs, of 2 units and more",
    ]


def test_a_log_without_queues() -> None:
    """There is only the mean of all jobs, and a word on why."""
    text = waits_as_yaml(WaitStatistics(WaitClass.QUEUE, 2, 0, WaitClassStatistics(2, 9)), "kth")
    assert yaml.safe_load(text) == {"expected_wait": {"other": 5}}
    assert text.splitlines()[-1] == "  # no job has a queue"
