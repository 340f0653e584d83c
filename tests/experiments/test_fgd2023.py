"""Ways to share GPUs: what is shown of a small experiment, beside outcomes that are made up."""

import csv
import gzip
import math
from pathlib import Path

import pytest

import fgd2023 as command
from comparisons.fgd2023.curves import curves_of
from comparisons.fgd2023.outcomes import FILES, LAST, POLICIES
from hpcsched import cli
from hpcsched.runs.directory import RunDirectory
from tests.docs.pages import tables

BASE = """\
name: base
system: {groups: [{name: node, count: 1, resources: {core: 8, gpu: {count: 4, shares: 1000}}}]}
trace:
  source: fill
  resource: gpu
  load: 1.3
  of:
    source: table
    path: tasks.csv
    columns: {submit_time: gpus}
    constants: {units: 1, run_time: 1s, requested_time: 1s}
    requests: {core: cores, gpu: gpus}
dispatcher: {name: list, option: greedy, allocator: fgd}
"""

EXPERIMENT = """\
name: fgd2023
scenario: base.yaml
matrix:
  - {names: [default, other], trace.of.path: [tasks.csv, tasks.csv]}
  - dispatcher.allocator: [random, fgd]
  - seed: [1, 2]
"""


@pytest.fixture
def out(tmp_path, monkeypatch):
    """Return the folder of an experiment: one GPU a task, and two cores, on a node with four.

    Of `default` 99.8 % were allocated by `fgd` and 98 % by `random`, and 0.5 % fragmented.
    """
    (tmp_path / "tasks.csv").write_text("cores,gpus\n" + "2,1\n" * 5)
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "small.yaml").write_text(EXPERIMENT)
    for metric, file in FILES.items():
        columns = [str(percent) for percent in range(LAST + 1)]
        with gzip.open(tmp_path / f"published_{file}_discrete.csv.gz", "wt") as text:
            writer = csv.writer(text)
            writer.writerow(["workload", "sc_policy", *columns])
            for policy, end in (("fgd", 99.8), ("random", 98.0)):
                value = end if metric == "allocation_ratio" else 0.5
                for more in (-0.1, 0.1):
                    of_all = [value + more] * len(columns)
                    writer.writerow(["openb_pod_list_default", POLICIES[policy], *of_all])
    monkeypatch.setenv("HPCSCHED_FGD", str(tmp_path))
    folder = tmp_path / "out"
    assert cli.main(["experiment", str(tmp_path / "small.yaml"), "--out", str(folder)]) == 0
    return folder


def test_published_and_ours(out, capsys):
    """Four tasks fill all GPUs, and the fifth leaves: 0.2 points above, and 2 points."""
    capsys.readouterr()
    assert command.main([str(out)]) == 0
    summary, allocated, fragmented = tables(capsys.readouterr().out)
    assert summary[1:] == [
        ["GPUs allocated, %", "random", "1", "0", "+2.00", "+2.00", "default"],
        ["GPUs allocated, %", "fgd", "1", "1", "+0.20", "+0.20", "default"],
        ["Fragmentation, %", "random", "1", "1", "-0.50", "-0.50", "default"],
        ["Fragmentation, %", "fgd", "1", "1", "-0.50", "-0.50", "default"],
    ]
    assert allocated[1] == ["default", "98.00 / 100.00", "99.80 / 100.00"]
    assert allocated[2] == ["other", "– / 100.00", "– / 100.00"]
    assert fragmented[1] == ["default", "0.50 / 0.00", "0.50 / 0.00"]
    assert [path.name for path in (out / "figures").glob("*.png")] == ["curves.png"]


def test_curves(out):
    """A task asks for a quarter of all GPUs; there are values where one has arrived."""
    run = RunDirectory.open(next(path for path in (out / "runs").iterdir()))
    allocated = curves_of(run)["allocation_ratio"]
    assert {k: v for k, v in enumerate(allocated) if not math.isnan(v)} == {
        25: 25.0, 50: 50.0, 75: 75.0, 100: 100.0, 125: 100.0,
    }  # fmt: skip


def test_without_the_published_files(out, monkeypatch, capsys):
    """It is said which file is missing, and what names its folder."""
    monkeypatch.setenv("HPCSCHED_FGD", str(Path("nowhere")))
    assert command.main([str(out)]) == 1
    assert "HPCSCHED_FGD" in capsys.readouterr().err
