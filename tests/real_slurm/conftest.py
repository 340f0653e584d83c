"""A real Slurm for the tests here, or the reason why there is none."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.real_slurm.cluster import SlurmCluster, missing

WANTED = "HPCSCHED_TEST_SLURM"
"""Set this environment variable to `1` to have a Slurm started; `make test-slurm` does."""


def _why_not() -> str:
    return missing() or ("" if os.environ.get(WANTED) == "1" else f"{WANTED} is not 1")


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmCluster]:
    """Give a Slurm of six nodes of two kinds."""
    why = _why_not()
    if why:
        pytest.skip(f"no Slurm is started: {why}")
    # Nobody must be able to reach it, and a socket's path may have 107 bytes; pytest's own folders
    # are closed to others.
    with TemporaryDirectory(prefix="hpcsched-slurm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with SlurmCluster(folder / "slurm") as cluster:
            yield cluster
