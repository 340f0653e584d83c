"""`hpcsched trace accounts-from` writes the accounts of a Slurm site."""

from pathlib import Path

import pytest
import yaml

from hpcsched import cli
from syntax.associations_22_05 import SSHARE

SCENARIO = """\
name: site
system: {groups: [{name: c, count: 2, resources: {core: 16}}]}
trace: {source: slurm-sacct, path: sacct.txt, time_zone: UTC}
predictor: requested-time
dispatcher:
  name: easy
  order:
    name: multifactor
"""
SACCT = """\
JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|User|Account
1|2026-11-25T17:52:00|2026-11-25T17:52:10|2026-11-25T17:53:00|10|1|3|daemon|physics
2|2026-11-25T17:52:01|2026-11-25T17:52:10|2026-11-25T17:53:00|10|1|1|bin|theory
"""


@pytest.fixture(autouse=True)
def _fake_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the plugins as they are; go to a folder with a scenario, its trace and a tree."""
    monkeypatch.chdir(tmp_path)
    Path("today.yaml").write_text(SCENARIO)
    Path("sacct.txt").write_text(SACCT)
    Path("sshare.txt").write_text(SSHARE)


def test_the_block_makes_a_valid_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers are those of the trace; what is left out is said on standard error too."""
    assert cli.main(["trace", "accounts-from", "sshare.txt", "today.yaml"]) == 0
    said = capsys.readouterr()
    accounts = yaml.safe_load(said.out)["accounts"]
    assert accounts["physics"]["users"] == {2: 1, 1: 1}
    assert (accounts["physics"]["groups"], accounts["theory"]["groups"]) == ([1], [2])
    assert (
        "Not in the trace: backup, games, lp, mail, man, news, proxy, root, sys, uucp." in said.out
    )
    assert said.err == ""
    with Path("today.yaml").open("a") as file:
        file.write(said.out)
    assert cli.main(["run", "today.yaml", "--out", "run"]) == 0
    assert cli.main(["verify", "run"]) == 0


def test_faults_are_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is named, or the trace without names."""
    Path("rubbish").write_text("rubbish")
    assert cli.main(["trace", "accounts-from", "rubbish", "today.yaml"]) == 1
    assert "rubbish" in capsys.readouterr().err
    Path("sacct.txt").write_text(SACCT.replace("User", "Person"))
    assert cli.main(["trace", "accounts-from", "sshare.txt", "today.yaml"]) == 1
    assert "expected a trace with names of users, found none" in capsys.readouterr().err


def test_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """It is a warning beside the block."""
    Path("sshare.txt").write_text(SSHARE.replace(" physics||2|0.333333|98|", " physics||2|0|198|"))
    command = ["trace", "accounts-from", "sshare.txt", "today.yaml", "--out", "block.yaml"]
    assert cli.main(command) == 0
    told = "usage of physics by users whom it no longer has: 102"
    assert f"warning: left out: {told}" in capsys.readouterr().err
    assert f"# {told}\n" in Path("block.yaml").read_text()


def test_priorities_of_qos(capsys: pytest.CaptureFixture[str]) -> None:
    """They come from a file of their own; a fault of it has the line."""
    Path("sshare.txt").write_text(SSHARE)
    Path("qos.txt").write_text("Name|Priority\nnormal|0\nexpress|10\n")
    command = ["trace", "accounts-from", "sshare.txt", "today.yaml", "--qos", "qos.txt"]
    assert cli.main(command) == 0
    assert capsys.readouterr().out.endswith(
        "qos:\n  normal: {priority: 0}  # qos.txt:2\n  express: {priority: 10}  # qos.txt:3\n"
    )
    Path("qos.txt").write_text("Name|Priority\nnormal|much\n")
    assert cli.main(command) == 1
    told = "expected Priority as a whole number, found 'much'"
    assert f"qos.txt:2: error: {told}" in capsys.readouterr().err
