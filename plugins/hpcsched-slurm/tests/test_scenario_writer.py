"""Scenarios that are written for a cluster."""

from recorded import said

from hpcsched_slurm.scenario_writer import scenario_of


def test_scenario() -> None:
    """Nodes that are alike make a group; a partition without nodes is refused."""
    scenario = scenario_of(
        said("nodes"), ["main"], {"rest": "unix:/s"}, history="/jobcomp", dispatcher="easy"
    )
    assert scenario["system"]["groups"] == [
        {"name": "c", "count": 3, "resources": {"core": 16, "mem": "64000MiB"}},
        {"name": "g", "count": 3, "resources": {"core": 8, "mem": "128000MiB", "gpu": 4}},
    ]
    assert scenario["live"]["nodes"] == {"c": "c1,c2,c3", "g": "g1,g2,g3"}
