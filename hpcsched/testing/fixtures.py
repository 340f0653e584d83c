"""Pytest fixtures for tests with plugins that are not installed."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

from hpcsched.plugins.manager import build_registry, stand_in
from hpcsched.plugins.registry import Registry
from hpcsched.runs.runner import RunResult, run
from hpcsched.scenario import load_scenario
from hpcsched.testing.building import sample_workloads
from hpcsched.workload.job import TracedJob

TRACE = "trace.swf"
"""Log beside the scenario of `run_scenario`."""


class UsePlugins(Protocol):
    """Type of the fixture `use_plugins`."""

    def __call__(self, *modules: ModuleType) -> Registry:
        """Register the hooks of modules until the test ends; return the registry."""


class RunScenario(Protocol):
    """Type of the fixture `run_scenario`."""

    def __call__(
        self, text: str, *modules: ModuleType, jobs: Iterable[TracedJob] | None = None
    ) -> RunResult:
        """Run a scenario with the plugins of modules.

        Parameters
        ----------
        jobs
            Jobs of the log beside the scenario; 40 sample jobs by default.
        """


@pytest.fixture
def use_plugins() -> Iterator[UsePlugins]:
    """Let a test use the plugins of modules as if they were installed, beside built-in ones alone.

    `use_plugins(my_package.plugin)` counts for `load_scenario`, for `run`, and for commands in this
    process, such as `hpcsched.cli.main(["plugins", "list"])`.
    """
    with ExitStack() as stack:

        def use(*modules: ModuleType) -> Registry:
            registry = build_registry(external=False, modules=modules)
            stack.enter_context(stand_in(registry))
            return registry

        yield use


@pytest.fixture
def run_scenario(tmp_path: Path, use_plugins: UsePlugins) -> RunScenario:
    """Run a scenario with plugins that are not installed, in the test's own folder.

    A small log, `trace.swf`, lies beside the scenario: 40 jobs of up to 16 processors, or the given
    `jobs`. The run directory is `result.directory.path`.
    """

    def run_it(
        text: str, *modules: ModuleType, jobs: Iterable[TracedJob] | None = None
    ) -> RunResult:
        use_plugins(*modules)
        _write_swf(tmp_path / TRACE, sample_workloads()[0].jobs if jobs is None else jobs)
        # A file and not a text: relative paths in the scenario start at its folder.
        scenario = tmp_path / "scenario.yaml"
        scenario.write_text(text, encoding="utf-8")
        return run(load_scenario(scenario), tmp_path / "run", force=True)

    return run_it


def _write_swf(path: Path, jobs: Iterable[TracedJob]) -> None:
    """Write a log; the scenario maps its processors to units."""
    lines = []
    for job, run_time in jobs:
        fields: list[int | None] = [job.job_id, job.submit_time, None, run_time, job.units]
        fields += [None, None, job.units, job.requested_time, None, 1]
        fields += [job.user, job.group, job.application, job.queue, job.partition, None, None]
        lines.append(" ".join("-1" if field is None else str(field) for field in fields))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
