"""Run directories of earlier versions, whose files, columns and keys had other names."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.replay_comparison import compare_replay
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import JOBS, SHARED_RESOURCES, SUMMARY
from hpcsched.runs.former_names import present_summary, stored_file
from hpcsched.runs.runner import run
from hpcsched.runs.tables import present_table, rejection_counts
from hpcsched.scenario import load_scenario
from tests.runs.hand_made import messages, seal, tamper_json
from tests.workload.readers.swf_files import record, write

SCENARIO = """\
name: power
system:
  groups: [{name: node, count: 2, resources: {core: 2}}]
  shared_resources: [{name: power, capacity: 30, draw: {per: {core: 10}}}]
trace: {source: swf, path: log.swf, unit: {core: 1}}
dispatcher: easy
"""


@pytest.fixture
def runs(tmp_path: Path) -> tuple[RunDirectory, RunDirectory]:
    """Return a run of three jobs, one of them refused, and the same with the former names."""
    write(tmp_path, [record(1, 0, 5, 2, 5), record(2, 1, 5, 4, 5), record(3, 2, 4, 3, 4)])
    path = tmp_path / "power.yaml"
    path.write_text(SCENARIO)
    now = run(load_scenario(path), tmp_path / "now").directory.path
    former = shutil.copytree(now, tmp_path / "former")
    (former / SHARED_RESOURCES).rename(former / "pools.parquet")
    table = pq.read_table(former / JOBS)
    rules = ["over_pool" if rule else None for rule in table["rejected_by"].to_pylist()]
    k = table.schema.get_field_index("rejected_by")
    table = table.set_column(k, table.schema.field(k), pa.array(rules, pa.string()))
    names = ["scatter" if name == "one_unit_per_node" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), former / JOBS)

    def rename(content: dict[str, Any]) -> None:
        content["pools"] = content.pop("shared_resources")
        content["jobs"]["rejected_by"] = {"over_pool": 1}

    tamper_json(former / SUMMARY, rename)
    seal(former)
    return RunDirectory.open(now), RunDirectory.open(former)


def test_a_run_of_an_earlier_version_is_read(runs: tuple[RunDirectory, RunDirectory]) -> None:
    """Its summary, tables and audit are those of the same run now."""
    now, former = runs
    assert now.summary["jobs"]["rejected_by"] == {"over_shared_resource": 1}
    assert former.summary == now.summary
    assert former.all_jobs.whole().equals(now.all_jobs.whole())
    assert rejection_counts(former.path) == {"over_shared_resource": 1}
    assert messages(audit_directory(former)) == messages(audit_directory(now))
    assert audit_directory(former).ok
    assert compare_replay(former, now).ok


def test_a_file_by_its_present_name_comes_first(tmp_path: Path) -> None:
    """The former name counts where a run has that alone."""
    assert stored_file(tmp_path, JOBS) == tmp_path / JOBS
    assert stored_file(tmp_path, SHARED_RESOURCES) == tmp_path / SHARED_RESOURCES
    (tmp_path / "pools.parquet").touch()
    assert stored_file(tmp_path, SHARED_RESOURCES) == tmp_path / "pools.parquet"
    (tmp_path / SHARED_RESOURCES).touch()
    assert stored_file(tmp_path, SHARED_RESOURCES) == tmp_path / SHARED_RESOURCES


def test_present_names_come_first() -> None:
    """A former key beside the present one is no name of it; other content stays as it is."""
    both = {"pools": 1, "shared_resources": 2, "jobs": {"rejected_by": {"dispatcher": 3}}}
    assert present_summary(both) == both
    assert present_summary({"pools": 1, "jobs": 2}) == {"shared_resources": 1, "jobs": 2}


def test_only_rules_are_read_by_their_present_names() -> None:
    """Other rules, missing ones and other columns stay as they are."""
    rules = pa.array(["over_pool", None, "dispatcher"], pa.string())
    table = present_table(pa.table({"rejected_by": rules, "name": rules}))
    assert table["rejected_by"].to_pylist() == ["over_shared_resource", None, "dispatcher"]
    assert table["name"].to_pylist() == ["over_pool", None, "dispatcher"]
