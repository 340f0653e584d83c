"""Advice about a real Slurm: it reads all, says what would start, and changes nothing."""

import json
import re
from pathlib import Path

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import finish, hpcsched, live, write_scenario

CHANGING = re.compile(r"(LastSchedEval|RunTime|SlurmdStartTime|CPULoad|FreeMem|LastBusyTime)=\S*")


def state(cluster: SlurmCluster) -> str:
    """Return all that Slurm says of jobs and nodes, but for what time changes."""
    shown = cluster.run("scontrol", "show", "jobs") + cluster.run("scontrol", "show", "nodes")
    return CHANGING.sub("", shown)


def test_advice_changes_nothing(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Jobs of all kinds are read and advised on; Slurm is afterwards as it was before."""
    jobs = [
        slurm.submit(1, "--exclusive", "--mem=1000", "--time=1", "--constraint=cpu"),
        slurm.submit(1, "--nodes=2", "--ntasks-per-node=8", "--mem=1000", "--time=1"),
        slurm.submit(1, "--gres=gpu:a100:4", "--mem=1000", "--time=1"),
        slurm.submit(1, "--cpus-per-task=4", "--mem=1000", "--time=1"),
        slurm.submit(1, "--array=1-3", "--mem=1000", "--time=1"),
    ]
    slurm.run("scontrol", "update", "NodeName=c3", "State=DRAIN", "Reason=test")
    scenario = write_scenario(slurm, tmp_path)
    before = state(slurm)
    try:
        printed = finish(live(slurm, scenario, "advise", "--out", str(tmp_path / "run")))
        assert state(slurm) == before
    finally:
        slurm.run("scontrol", "update", "NodeName=c3", "State=RESUME")
        slurm.run("scancel", *jobs)
    rows = {line.split()[0]: line.split() for line in printed.splitlines() if "held for" in line}
    assert set(rows) == {*jobs[:4], *(f"{jobs[4]}_{task}" for task in (1, 2, 3))}
    assert len(rows[jobs[1]][1].split(",")) == 2
    assert rows[jobs[2]][1] in {"g1", "g2", "g3"}
    assert rows[jobs[0]][1] in {"c1", "c2"}
    assert not any("c3" in row[1] for row in rows.values())
    advice = (tmp_path / "run" / "advice.jsonl").read_text().splitlines()
    assert {json.loads(line)["key"] for line in advice} == set(rows)
    told = finish(hpcsched(slurm, "explain", str(tmp_path / "run"), jobs[0]))
    assert "in order" in told


def test_a_token_that_others_may_read_is_refused(slurm: SlurmCluster, tmp_path: Path) -> None:
    """So is one that slurmrestd does not know; neither shows in what is printed."""
    scenario = write_scenario(slurm, tmp_path)
    secret = slurm.token_file.read_text().strip().partition("=")[2]
    slurm.token_file.chmod(0o644)
    try:
        process = live(slurm, scenario, "advise", "--out", str(tmp_path / "open"))
        printed, _ = process.communicate(timeout=60)
    finally:
        slurm.token_file.chmod(0o600)
    assert process.returncode == 1
    assert "open-token" in printed
    assert secret not in printed
    wrong = tmp_path / "token"
    wrong.touch(mode=0o600)
    wrong.write_text(secret[:-6] + "AAAAAA")
    setting = f"live.workload_manager.token_file={wrong}"
    process = live(slurm, scenario, "advise", "--set", setting, "--out", str(tmp_path / "w"))
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert len(printed.splitlines()) == 1
    assert secret[:20] not in printed


def test_by_commands(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Where there is no slurmrestd, Slurm's commands tell the same."""
    job = slurm.submit(1, "--nodes=2", "--ntasks-per-node=8", "--mem=1000", "--time=1")
    scenario = write_scenario(slurm, tmp_path)
    setting = f"live.workload_manager={{name: slurm, config: {slurm.config}}}"
    out = ("--out", str(tmp_path / "run"))
    try:
        printed = finish(live(slurm, scenario, "advise", "--set", setting, *out))
    finally:
        slurm.run("scancel", job)
    assert f"{job} " in printed
    assert "in_order" in printed
