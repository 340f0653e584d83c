"""A real Slurm for the tests here, or the reason why there is none."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.real_slurm.cluster import SIX, TWO_GPU_TYPES, NodeKind, SlurmCluster, missing

WANTED = "HPCSCHED_TEST_SLURM"
"""Set this environment variable to `1` to have a Slurm started; `make test-slurm` does."""


def _why_not() -> str:
    return missing() or ("" if os.environ.get(WANTED) == "1" else f"{WANTED} is not 1")


@contextmanager
def started(
    kinds: Sequence[NodeKind] = SIX,
    *,
    enforce: str | None = None,
    more: Sequence[str] = (),
    held: bool = True,
    expire: int = 40,
) -> Iterator[SlurmCluster]:
    """Start a Slurm as `SlurmCluster` does, or skip the test and say why there is none."""
    why = _why_not()
    if why:
        pytest.skip(f"no Slurm is started: {why}")
    # Nobody must be able to reach it, and a socket's path may have 107 bytes; pytest's own folders
    # are closed to others.
    with TemporaryDirectory(prefix="hpcsched-slurm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with SlurmCluster(
            folder / "slurm", kinds, held=held, enforce=enforce, more=more, expire=expire
        ) as cluster:
            yield cluster


@pytest.fixture(scope="session")
def slurm_of_all_tests() -> Iterator[SlurmCluster]:
    """Give a Slurm of six nodes of two kinds, in the state in which the last test left it."""
    with started(SIX) as cluster:
        yield cluster


@pytest.fixture
def slurm(slurm_of_all_tests: SlurmCluster) -> SlurmCluster:
    """Give a Slurm of six nodes of two kinds, all idle: no job waits, runs or ends."""
    slurm_of_all_tests.become_idle()
    return slurm_of_all_tests


@pytest.fixture
def slurm_with_gpu_types() -> Iterator[SlurmCluster]:
    """Give a Slurm of its own with GPUs of two types."""
    with started(TWO_GPU_TYPES) as cluster:
        yield cluster


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have measured, also those that ran in other processes."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "measured":
                terminalreporter.write_line(str(value))
