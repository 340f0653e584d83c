"""Requests that hpcsched leaves to Slurm, on a real one: each with its reason, and each runs."""

from pathlib import Path

import pyarrow.parquet as pq

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import finish, journalled, live, write_scenario

UNTIL_IDLE = ("drive", "--until-idle")
COMMON = ("--mem=500", "--time=1")


def test_left_to_slurm(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Counts on several nodes, alternatives and heterogeneous jobs; others are placed."""
    placed = {
        slurm.submit(1, "--nodes=2", "--ntasks=2", "--constraint=gpu*2", *COMMON): "g",
        slurm.submit(1, "--constraint=[cpu|gpu]", *COMMON): "",
        slurm.submit(1, "--nodes=3", "--ntasks=3", "--constraint=[gpu|cpu]", *COMMON): "",
    }
    het = slurm.submit(1, *COMMON, ":", *COMMON, "--partition=main", "--ntasks=2").partition("+")[0]
    components = [het, str(int(het) + 1)]
    left = dict.fromkeys(components, "being part of a heterogeneous job")
    left[slurm.submit(1, "--contiguous", "--nodes=2", *COMMON)] = "contiguous nodes"
    counted = {
        slurm.submit(1, f"--nodes={nodes}", f"--ntasks={nodes}", f"--constraint={text}", *COMMON): (
            f"the constraint {text}"
        )
        for nodes, text in ((4, "[cpu*2&gpu*2]"), (2, "gpu*1"))
    }
    scenario = write_scenario(slurm, tmp_path)
    printed = finish(live(slurm, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run")))
    assert "could not be started" not in printed, printed
    told = journalled(scenario)
    table = pq.read_table(tmp_path / "run" / "reasons.parquet")
    rows = zip(table.column("job_id").to_pylist(), table.column("detail").to_pylist(), strict=True)
    reasons: dict[str, set[str]] = {}
    for job, detail in rows:
        reasons.setdefault(str(job), set()).add(detail)
    for key, why in (left | counted).items():
        assert told[key]["nodes"] == [], key
        assert f"left to the cluster, since it asks for {why}" in reasons[key]
    for key, begin in placed.items():
        assert told[key]["nodes"], key
        assert all(name.startswith(begin) for name in told[key]["nodes"])
        # All nodes have the same feature.
        assert len({name[0] for name in told[key]["nodes"]}) == 1
    # The driver does not wait for the jobs that it left to Slurm. Later versions do not start jobs
    # with counts on these nodes, whoever submits them.
    old = slurm.version() < (24, 5)
    ended = [int(key) for key in (*left, *placed, *(counted if old else ()))]
    try:
        slurm.wait_until(lambda: all(slurm.jobs()[n]["job_state"] == "COMPLETED" for n in ended))
    finally:
        slurm.run("scancel", *counted, check=False)
