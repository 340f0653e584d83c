"""The trace that comes with the project is what its script makes."""

import gzip
import runpy
from pathlib import Path

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def test_the_script_makes_the_committed_trace() -> None:
    """The committed file holds what the seeded script draws, line by line."""
    made = runpy.run_path(str(SCENARIOS / "make_small_cluster_trace.py"))["make_trace"]()
    committed = gzip.decompress((SCENARIOS / "traces" / "small-cluster.swf.gz").read_bytes())
    assert committed.decode() == made
