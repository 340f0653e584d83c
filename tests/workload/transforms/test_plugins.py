"""Transforms of other packages enter as those of our own do."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from hpcsched import hookimpl
from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugins.manager import build_registry
from hpcsched.registration import KEEPS_REQUESTS, Context, Plugin
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import read_scenario
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transform import TransformAccount
from tests.workload.readers.swf_files import record, write

SCENARIO = """\
name: odd-jobs
system: {groups: [{name: node, count: 4, resources: {core: 2}}]}
trace: {source: swf, path: log.swf, transforms: [%s]}
dispatcher: easy
"""


class Odd:
    """Keeps jobs with odd numbers."""

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield them."""
        for traced in jobs:
            if traced.job.job_id % 2:
                yield traced
            else:
                account.skip("even")


def _odd(_params: Params, _context: Context) -> object:
    return Odd()


@hookimpl
def hpcsched_transforms() -> Iterable[Plugin]:
    """Return three transforms: one that says what it keeps, one that does not, and no transform."""
    yield Plugin("odd", "odd numbers", _odd, capabilities=frozenset({KEEPS_REQUESTS}))
    yield Plugin("odd-undeclared", "odd numbers", _odd)
    yield Plugin("broken", "nothing of use", lambda _params, _context: object())


def assembled(folder: Path, name: str):
    """Return the parts of a scenario whose trace of four jobs is transformed by this name."""
    module = ModuleType("odd")
    module.hpcsched_transforms = hpcsched_transforms  # type: ignore[attr-defined]
    registry = build_registry(external=False, modules=[module])
    write(folder, [record(number, number) for number in range(1, 5)])
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO % name, encoding="utf-8")
    return assemble(read_scenario(path, registry=registry).scenario, registry).build_all()


def test_a_transform_of_another_package(tmp_path: Path) -> None:
    """It is found by its name, and its word is in the account."""
    source = assembled(tmp_path, "odd").source
    assert [one.job.job_id for one in source.jobs()] == [1, 3]
    assert source.account.skipped == {"even": 2}


def test_requests_are_uniform_only_where_that_is_declared(tmp_path: Path) -> None:
    """Nothing is taken for granted of a transform that says nothing."""
    assert assembled(tmp_path, "odd").source.uniform_request == (1,)
    assert assembled(tmp_path, "odd-undeclared").source.uniform_request is None
    assert assembled(tmp_path, "odd, odd-undeclared").source.uniform_request is None


def test_what_is_no_transform(tmp_path: Path) -> None:
    """It is refused by name before anything runs."""
    with pytest.raises(PluginError, match=r"transform broken .*: expected its factory to return"):
        _ = assembled(tmp_path, "broken").source
