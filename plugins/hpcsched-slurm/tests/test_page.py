"""The table "What is read" of the page on live dispatching: each row is backed by a test."""

import importlib
import re
from pathlib import Path

import pytest

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
LIMITS_BACKED_BY = {
    "`GrpJobs`, `GrpTRES`": "test_policies.test_limits_of_a_job",
    "`MaxJobsPerUser`, `MaxTRESPerUser`, `MaxJobsPerAccount`, `MaxTRESPerAccount`": (
        "test_policies.test_limits_of_a_job"
    ),
    "`MaxJobs`": "test_policies.test_limits_of_a_job",
    "`MaxTRESPerJob`, `MaxTRESPerNode`, `MinTRES`, `MaxWall`": (
        "test_policies.test_limits_of_a_single_job"
    ),
    "`MaxTRESMins`": "test_time_limits.test_minutes_of_a_job",
    "`GrpTRESRunMins`": "test_time_limits.test_minutes_of_running_jobs",
    "`GrpTRESMins`, `GrpWall`": "test_time_limits.test_minutes_that_were_used",
    "`UsageFactor`, flag `UsageFactorSafe`": "test_time_limits.test_usage_factors",
    "`MaxTime`, `MaxNodes`, `MaxMemPerNode`, `State`": "test_partition_limits.test_refusals",
    "`AllowAccounts`, `DenyAccounts`, `AllowQos`, `DenyQos`": (
        "test_partition_limits.test_refusals"
    ),
    "`AllowGroups`": "test_partition_limits.test_groups_that_are_not_known_here",
    "`MaxCPUsPerNode`": "test_partition_limits.test_cpus_of_a_node_together",
    "`MinNodes`": "test_partition_limits.test_a_minimum_of_nodes",
    "flag `Relative`, `GrpTRES=billing` and the like": "test_policies.test_what_is_not_understood",
    "`MaxMemPerCPU`, `MaxCPUsPerSocket`, `ExclusiveUser`": (
        "test_partition_limits.test_what_is_left"
    ),
}
"""The same of the table of limits."""


@pytest.mark.parametrize(
    ("heading", "end", "backed_by"),
    [("## What is read", "\n\n### ", BACKED_BY), ("### Limits", "\n## ", LIMITS_BACKED_BY)],
)
def test_rows(heading: str, end: str, backed_by: dict[str, str]) -> None:
    """A new row needs a test, and a test that is renamed is missed here."""
    table = PAGE.read_text().partition(heading)[2].partition(end)[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][2:]
    rows = [match[1] for match in map(_ROW.match, lines) if match]
    assert rows == list(backed_by)
    for name in backed_by.values():
        module, _, test = name.partition(".")
        assert callable(getattr(importlib.import_module(module), test))
