"""The table "What is read" of the page on live dispatching: each row is backed by a test."""

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "slurm-live.md"
_ROW = re.compile(r"\| (.+?) (?<!\\)\|")
BACKED_BY = {
    "CPUs, memory": "test_reading.test_what_is_kept_back_on_a_node",
    "GPUs, in all ways of asking": "test_versions.test_gpus",
    "nodes and CPUs of a job": "test_reading.test_more_cores_than_a_node",
    "`--exclusive`": "test_reading_jobs.test_whole_nodes",
    "a job without `--mem`": "test_reading.test_all_memory",
    "partitions with `OverSubscribe=EXCLUSIVE`": "test_partition_limits.test_whole_nodes",
    r"constraints `a&b`, `(a\|b)&c`": "test_reading_jobs.test_features",
    "counts `rack*4`": "test_reading_jobs.test_one_feature_for_all_nodes",
    r"alternatives `[a\|b]`": "test_reading_jobs.test_one_feature_for_all_nodes",
    "counts in brackets `[a*1&b*2]`": "test_reading_jobs.test_what_is_left_to_slurm",
    "several partitions": "test_reading_jobs.test_several_partitions",
    "licences `matlab:2,comsol`": "test_policies.test_jobs_with_limits",
    "heterogeneous jobs, burst buffers, `--contiguous`, jobs in a reservation": (
        "test_reading_jobs.test_what_is_left_to_slurm"
    ),
    "arrays `1-9%3`": "test_reading_jobs.test_limits_of_arrays",
    "dependencies, begin times, holds of users": (
        "test_reading_jobs.test_begin_times_and_dependencies"
    ),
    "completing jobs": "test_reading_jobs.test_jobs_that_are_suspended_or_completing",
    "suspended jobs": "test_reading_jobs.test_suspended_jobs",
    "nodes `PLANNED`, `COMPLETING`, `POWERED_DOWN`, `CLOUD`": (
        "test_reservations.test_states_of_nodes"
    ),
    "nodes `POWERING_UP`, `POWERING_DOWN`, `REBOOT_REQUESTED`, `REBOOT_ISSUED`": (
        "test_reservations.test_states_of_nodes"
    ),
    "nodes `RESERVED`, `MAINT`": "test_reservations.test_states_of_nodes",
    "nodes `DRAIN`, `DOWN`, `FAIL`, `NOT_RESPONDING`, `BLOCKED`": (
        "test_reading.test_nodes_that_may_not_be_used"
    ),
    "reservations": "test_reservations.test_recorded",
    "limits of partitions": "test_partition_limits.test_blocked_jobs",
    "limits of QOS and associations": "test_policies.test_limits_of_a_job",
}
"""The first cell of each row, and a test of what the row says."""


def test_rows() -> None:
    """A new row needs a test, and a test that is renamed is missed here."""
    table = PAGE.read_text().partition("## What is read")[2].partition("\n\n### ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][2:]
    rows = [match[1] for match in map(_ROW.match, lines) if match]
    assert rows == list(BACKED_BY)
    for name in BACKED_BY.values():
        module, _, test = name.partition(".")
        assert callable(getattr(importlib.import_module(module), test))
