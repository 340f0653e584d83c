"""A real Slurm for the tests here, or the reason why there is none."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slurm.cluster import SlurmCluster, missing

WANTED = "HPCSCHED_TEST_SLURM"
"""Set this environment variable to `1` to have a Slurm started; `make test-slurm` does."""


def _why_not() -> str:
    return missing() or ("" if os.environ.get(WANTED) == "1" else f"{WANTED} is not 1")


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """Give a Slurm of six nodes of two kinds."""
    why = _why_not()
    if why:
        pytest.skip(f"no Slurm is started: {why}")
    # A socket's path may have 107 bytes, and nobody must be able to reach it.
    folder: Path = tmp_path_factory.mktemp("s")
    for parent in (folder, *folder.parents[:3]):
        parent.chmod(0o755)
    with SlurmCluster(folder / "slurm") as cluster:
        yield cluster
