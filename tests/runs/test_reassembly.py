"""A trace that a program answers: what an audit, a replay and an explanation read later."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hpcsched
from hpcsched import Plugin, Request, System, TraceAccount, TraceAnswer, cli
from hpcsched.parameters import NotReproducible, Params
from hpcsched.plugins.manager import build_registry, stand_in
from hpcsched.runs.assembly import assemble_again
from hpcsched.workload.job import Job, TracedJob

ANSWERS: list[bytes] = []
"""What the program answers, from now on."""


class AskParams(Params):
    """Parameters of a source that asks."""

    not_reproducible = NotReproducible("a program is asked")


class Ask:
    """Source of jobs of one core, submitted at second 0, with the run times of an answer."""

    uniform_request = None
    fraction_read = None
    files: Sequence[Path] = ()
    comments: Sequence[str] = ()

    def __init__(self, system: System) -> None:
        self._system = system
        self._content: bytes | None = None
        self.account = TraceAccount()

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return the answer; it is asked for once."""
        if self._content is None:
            self._content = ANSWERS[-1]
        return [TraceAnswer("program/jobs", self._content)]

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Take the answer of an earlier run."""
        ((_, self._content),) = answers

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs."""
        self.account = TraceAccount()
        ((_, content),) = self.read_answers()
        request = Request(1, self._system.request({"core": 1}))
        for number, run_time in enumerate(json.loads(content), 1):
            self.account.read += 1
            self.account.submitted += 1
            yield TracedJob(Job(number, 0, request, 100), run_time)


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[Path]:
    """Give a scenario of two nodes that asks the program."""
    plugins = ModuleType("asking")

    @hpcsched.hookimpl
    def hpcsched_trace_sources() -> list[Plugin]:
        return [Plugin("ask", "asks", lambda _, context: Ask(context.system), AskParams)]

    plugins.hpcsched_trace_sources = hpcsched_trace_sources  # type: ignore[attr-defined]
    path = tmp_path / "asked.yaml"
    path.write_text(
        "name: asked\nsystem: {groups: [{name: n, count: 2, resources: {core: 1}}]}\n"
        "trace: {source: ask, transforms: [{name: first, jobs: 3}]}\n"
        "dispatcher: easy\n"
    )
    with stand_in(build_registry(external=False, modules=[plugins])):
        yield path


def printed(capsys: pytest.CaptureFixture[str], *command: Any) -> tuple[int, str]:
    """Return the exit code of a command, and what it printed."""
    code = cli.main(list(map(str, command)))
    said = capsys.readouterr()
    return code, said.out + said.err


def test_another_answer_meanwhile(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run is audited, replayed and explained from the answer that it kept."""
    run = tmp_path / "run"
    ANSWERS.append(b"[5, 6, 7]")
    assert printed(capsys, "run", scenario, "--explain", "--out", run)[0] == 0
    ANSWERS.append(b"[5, 6]")
    code, said = printed(capsys, "verify", run, "--replay")
    assert code == 0, said
    assert "note: program/jobs was read from trace_answers.zip, and not asked for again" in said
    assert "replayed: 3 of 3 starts equal" in said
    assert printed(capsys, "explain", run, 3)[0] == 0
    opened = hpcsched.open_run(run).directory
    assert [run_time for _, run_time in assemble_again(opened).source.jobs()] == [5, 6, 7]
    (run / "trace_answers.zip").unlink()
    code, said = printed(capsys, "verify", run, "--replay")
    assert code == 1
    assert "gives another answer than in the run, which kept no copy" in said
    assert "not replayed: a program is asked" in said


def test_a_new_run_replaces_the_copy(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Forced into the same folder, a run of a file leaves no copy of an answer."""
    run, log = tmp_path / "run", tmp_path / "log.swf"
    ANSWERS.append(b"[5]")
    assert printed(capsys, "run", scenario, "--out", run)[0] == 0
    log.write_text("1 0 -1 60 1 -1 -1 1 60 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    other = ("--set", f"trace={{source: swf, path: {log}}}", "--force")
    assert printed(capsys, "run", scenario, *other, "--out", run)[0] == 0
    assert not (run / "trace_answers.zip").exists()
