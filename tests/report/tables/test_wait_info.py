"""Recorded waits as a parameter of a dispatcher: what is written can be used."""

import json

import yaml

from hpcsched.dispatching.wait_statistics import WaitClassStatistics, WaitStatistics
from hpcsched.report.tables.trace_info import waits_as_json, waits_as_yaml
from hpcsched.workload.job import WaitClass

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
