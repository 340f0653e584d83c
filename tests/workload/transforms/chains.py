"""Traces of a few jobs, and what a chain of transforms makes of them."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from hpcsched.plugins.manager import build_registry
from hpcsched.registration import KEEPS_REQUESTS
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount
from hpcsched.workload.transform import TransformedSource
from tests.builders import alike, traced

SYSTEM = alike(8, core=2, mem=16, gpu=1)
"""16 cores, 128 units of memory and 8 GPUs."""

_REGISTRY = build_registry(external=False)


class Given:
    """A source of jobs that are given, which counts what is taken from it."""

    def __init__(
        self,
        jobs: Sequence[TracedJob],
        comments: Sequence[str] = (),
        uniform_request: tuple[int, ...] | None = None,
        *,
        dependencies: bool = False,
    ) -> None:
        self._jobs = tuple(jobs)
        self.comments = comments
        self.uniform_request = uniform_request
        self.dependencies = dependencies
        self.files = ()
        self.account = TraceAccount()

    @property
    def fraction_read(self) -> float:
        """How many of the jobs have been taken."""
        return self.account.read / len(self._jobs)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs."""
        self.account = TraceAccount()
        for one in self._jobs:
            self.account.read += 1
            self.account.submitted += 1
            yield one


def chain(
    source: Any, *transforms: tuple[str, dict[str, Any]], seed: int = 7, system: System = SYSTEM
) -> TransformedSource:
    """Return a source behind transforms, each a name and its parameters as in a scenario."""
    context: Any = SimpleNamespace(system=system, seed=seed)
    built, keeps = [], True
    for name, given in transforms:
        plugin = _REGISTRY.get("transform", name).plugin
        built.append((name, plugin.factory(plugin.params.model_validate(given), context)))
        keeps = keeps and KEEPS_REQUESTS in plugin.capabilities
    return TransformedSource(source, built, keeps)


def read(source: TransformedSource) -> list[TracedJob]:
    """Return the jobs of a source, having checked its account and their order."""
    jobs = list(source.jobs())
    account = source.account
    assert account.submitted == len(jobs)  # which is what was read, less what was skipped
    times = [one.job.submit_time for one in jobs]
    assert times == sorted(times)
    return jobs


def submitted(
    times: Sequence[int], users: Sequence[int | None] | None = None, **more: Any
) -> list[TracedJob]:
    """Return jobs of a core and 60 s, numbered from 1, submitted when and by whom is said."""
    users = [1] * len(times) if users is None else users
    return [
        traced(k, time, 1, 60, (1, 0, 0), user=user, **more)
        for k, (time, user) in enumerate(zip(times, users, strict=True), 1)
    ]


def numbers(jobs: Sequence[TracedJob]) -> list[int]:
    """Return the numbers of jobs."""
    return [one.job.job_id for one in jobs]


def times(jobs: Sequence[TracedJob]) -> list[int]:
    """Return the submit times of jobs."""
    return [one.job.submit_time for one in jobs]
