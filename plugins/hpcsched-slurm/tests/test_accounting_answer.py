"""The trace source that asks slurmdbd, with a slurmrestd that gives recorded answers."""

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import hpcsched
import hpcsched_slurm.plugins
from hpcsched import InputError, NodeGroup, System, TraceAnswer
from hpcsched.testing import UsePlugins
from hpcsched_slurm.accounting_answer import ask_accounting, earlier_answer, record_of
from hpcsched_slurm.history import SlurmHistory
from hpcsched_slurm.params import SlurmHistoryParams, instant_of
from recorded import FOLDER, MIB
from test_calls import Server, serving

ANSWER = (FOLDER / "slurmdb.json").read_bytes()
SYSTEM = System((NodeGroup("c", 4, {"core": 16, "mem": 64000 * MIB, "gpu": 4}),))


def answering(server: Server, version: int = 38) -> None:
    """Let a server give the recorded answer, as one of a version."""
    content = json.loads(ANSWER)
    if version > 38:
        content["meta"]["plugin"] = {"data_parser": f"data_parser/v0.0.{version}"}
        for job in content["jobs"]:
            limit = job["time"]["limit"]
            job["time"]["limit"] = {"set": True, "infinite": False, "number": limit}
            job["state"]["current"] = [job["state"]["current"]]
    server.document = {"paths": {f"/slurm/v0.0.{version}/jobs/": {}}}
    server.content = json.dumps(content).encode()


def source(tmp_path: Path, **given: Any) -> SlurmHistory:
    """Return a source that asks the server in a folder."""
    asked = {"rest": f"unix:{tmp_path}/s", "token_file": f"{tmp_path}/token", "user": "ann"}
    return SlurmHistory(SlurmHistoryParams(**asked, **given), SYSTEM)


@pytest.mark.parametrize("version", [38, 41, 42, 43, 44, 45])
def test_the_jobs_are_those_of_a_saved_copy(tmp_path: Path, version: int) -> None:
    """One call, in the version that slurmrestd offers; the token is in its header."""
    with serving(tmp_path) as (server, _):
        answering(server, version)
        asking = source(tmp_path, since="2026-11-20T00:00:00+00:00", until="2026-11-21T00:00:00Z")
        found = list(asking.jobs())
        assert list(asking.jobs()) == found
        (_, path, headers, _), *more = [one for one in server.asked if "slurmdb" in one[1]]
    begin, prefix = 1_795_132_800, "uts" if version == 38 else ""
    expected = f"start_time={prefix}{begin}&end_time={prefix}{begin + 86_400}"
    assert path == f"/slurmdb/v0.0.{version}/jobs?{expected}"
    assert headers["X-SLURM-USER-NAME"] == "ann"
    assert not more
    copy = tmp_path / "copy.json"
    copy.write_bytes(ANSWER)
    saved = SlurmHistory(SlurmHistoryParams(path=str(copy)), SYSTEM)
    assert found == list(saved.jobs())
    assert asking.account == saved.account
    assert (asking.files, saved.files) == ([], [copy])
    assert saved.read_answers() == []
    assert asking.comments == saved.comments == ["User: 0 root"]


def test_the_time_that_is_asked_for(tmp_path: Path) -> None:
    """Thirty days by default; `until` alone means the thirty days before it."""
    with serving(tmp_path) as (server, _):
        answering(server)
        for given in ({}, {"days": 2}, {"until": "2024-03-31T00:00:00+00:00"}):
            ask_accounting(f"unix:{tmp_path}/s", source(tmp_path, **given)._params)
        first, second, third = (
            one[1].partition("start_time=uts")[2] for one in server.asked if "slurmdb" in one[1]
        )
    assert time.time() - int(first) == pytest.approx(30 * 86_400, abs=60)
    assert time.time() - int(second) == pytest.approx(2 * 86_400, abs=60)
    end = 1_711_843_200
    assert third == f"{end - 30 * 86_400}&end_time=uts{end}"
    assert instant_of("2024-03-31") == int(time.mktime((2024, 3, 31, 0, 0, 0, 0, 0, -1)))


def test_a_run_records_what_was_read(tmp_path: Path, use_plugins: UsePlugins) -> None:
    """The manifest has its hash, and says that the run is not reproducible."""
    use_plugins(hpcsched_slurm.plugins)
    (tmp_path / "site.yaml").write_text(
        "name: asked\n"
        "system: {groups: [{name: c, count: 4, resources: {core: 16, mem: 64000MiB, gpu: 4}}]}\n"
        f"trace: {{source: slurm-history, rest: 'unix:{tmp_path}/s', user: ann,\n"
        f"        token_file: {tmp_path}/token, since: 2026-11-01, until: 2026-12-01}}\n"
        "dispatcher: easy\n"
    )
    with serving(tmp_path) as (server, _):
        answering(server)
        scenario = hpcsched.load_scenario(tmp_path / "site.yaml")
        result = hpcsched.run(scenario, out=tmp_path / "run")
        manifest = json.loads((tmp_path / "run/manifest.json").read_text())
        (read,) = manifest["trace_files"]
        assert read["path"] == f"unix:{tmp_path}/s/slurmdb/jobs"
        assert (read["answer"], read["changed"]) == (True, False)
        records = [record_of(job) for job in json.loads(ANSWER)["jobs"]]
        content = json.dumps(records, sort_keys=True, separators=(",", ":")).encode()
        assert (read["bytes"], read["sha256"]) == (len(content), sha256(content).hexdigest())
        assert manifest["not_reproducible_because"] == ["the trace is what slurmdbd answers"]
        assert len(result.jobs) == len(list(source(tmp_path).jobs()))
    # Nobody answers now, or slurmdbd answers otherwise: the run keeps what it read.
    kept = (
        f"unix:{tmp_path}/s/slurmdb/jobs was read from trace_answers.zip, and not asked for again"
    )
    assert (violations(result), notes(result)[0]) == ([], kept)
    (tmp_path / "run" / "trace_answers.zip").unlink()
    (tmp_path / "s").unlink()
    with serving(tmp_path) as (server, _):
        answering(server)
        gone = "trace_answers.zip is in the directory: expected True, found False"
        assert violations(result) == [gone]
        # A field that the trace does not have changes nothing.
        server.content = ANSWER.replace(b'"elapsed": 3', b'"elapsed": 4')
        assert violations(result) == [gone]
        server.content = ANSWER.replace(b'"count": 3', b'"count": 4')
        assert f"SHA-256 of unix:{tmp_path}/s/slurmdb/jobs" in violations(result)[0]
        assert "gives another answer than in the run, which kept no copy" in notes(result)[0]


def test_a_kept_answer_is_one() -> None:
    """What is no list of records is one clear message; a record may be none."""
    name = "unix:/s/slurmdb/jobs"
    answer = earlier_answer(TraceAnswer(name, b'[{"JobIDRaw": "7"}, null]'))
    assert (answer.records, answer.hashed.name) == ([{"JobIDRaw": "7"}, None], name)
    for content in (b"{}", b"[1]", b'[{"JobIDRaw": 7}]', b"[", b"[" * 100_000):
        with pytest.raises(InputError, match="kept answer of slurmdbd is damaged"):
            earlier_answer(TraceAnswer(name, content))


def violations(result: hpcsched.RunResult) -> list[str]:
    """Return the violations that an audit of a run finds; it reads the trace again."""
    return [text for check in result.verify().checks for text in check.violations]


def notes(result: hpcsched.RunResult) -> list[str]:
    """Return the notes of an audit of a run."""
    return [text for check in result.verify().checks for text in check.notes]


def test_no_answer(tmp_path: Path) -> None:
    """It is one clear message without the token."""
    with serving(tmp_path) as (server, _):
        answering(server)
        server.content = server.content.replace(b'"jobs"', b'"steps"')
        with pytest.raises(InputError, match="slurmrestd: slurmdb/jobs: 200"):
            list(source(tmp_path).jobs())
        server.status = 401
        with pytest.raises(InputError, match="does not accept the token of ann"):
            list(source(tmp_path).jobs())
    with pytest.raises(InputError, match="slurmrestd: ") as caught:
        source(tmp_path).read_answers()
    assert "secret" not in str(caught.value)


def test_a_run_of_a_saved_copy_is_verified(tmp_path: Path, use_plugins: UsePlugins) -> None:
    """The run's own scenario has every key, also those of slurmrestd, and is read again."""
    use_plugins(hpcsched_slurm.plugins)
    (tmp_path / "copy.json").write_bytes(ANSWER)
    (tmp_path / "site.yaml").write_text(
        "name: saved\n"
        "system: {groups: [{name: c, count: 4, resources: {core: 16, mem: 64000MiB, gpu: 4}}]}\n"
        "trace: {source: slurm-history, path: copy.json}\ndispatcher: easy\n"
    )
    result = hpcsched.run(tmp_path / "site.yaml", out=tmp_path / "run")
    assert result.verify().ok


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "expected 'path', or 'rest' in its place; found neither"),
        ({"path": "a", "rest": "unix:/s"}, "found both"),
        ({"path": "a", "days": 3}, "'days' is for 'rest'"),
        ({"path": "a", "token_file": "t"}, "'token_file' is for 'rest'"),
        ({"rest": "unix:/s", "days": 3, "since": "2024-03-01"}, "expected 'days', or 'since'"),
        ({"rest": "unix:/s", "since": "yesterday"}, "expected a time such as 2024-03-01"),
        (
            {"rest": "unix:/s", "since": "2024-03-01", "until": "2024-03-01"},
            "expected 'until' after 'since'",
        ),
        ({"rest": "http://slurm.example.org:6820"}, "tokens are not to be sent"),
        ({"rest": "unix:/s", "days": 0}, "greater than 0"),
    ],
)
def test_parameters(given: dict[str, Any], message: str) -> None:
    """Keys that do not go together are refused."""
    with pytest.raises(ValidationError, match=message):
        SlurmHistoryParams(**given)
