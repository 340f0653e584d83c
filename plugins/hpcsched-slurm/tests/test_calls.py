"""slurmrestd, tokens and commands, without Slurm."""

import json
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hpcsched import InputError
from hpcsched.system.cluster import RefusedError, UnavailableError
from hpcsched_slurm.commands import Commands
from hpcsched_slurm.credentials import read_token
from hpcsched_slurm.manager import make_slurm
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.rest import Rest
from recorded import FOLDER

EMPTY = ("/reservations", "/partitions", "/licenses", "/qos", "/associations")
"""Ends of the paths of lists that are empty here, if the server's content has none."""
SECRET = "eyJhbGciOiJIUzI1NiJ9.secret"


class Server(socketserver.UnixStreamServer):
    """Answers as slurmrestd does; `asked` has the requests."""

    def __init__(self, path: str) -> None:
        super().__init__(path, Handler)
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.unchanged = False
        self.status, self.content = 200, (FOLDER / "jobs.json").read_bytes()
        self.document = {"paths": {"/slurm/v0.0.38/jobs/": {}, "/slurm/v0.0.38/nodes/": {}}}


class Handler(BaseHTTPRequestHandler):
    """Answers every request in the way that is set."""

    server: Server

    def do_GET(self) -> None:
        """Note the request and answer it."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        content = self.server.content
        if self.server.unchanged and "?update_time=" in self.path:
            self.send_response(304)
            self.end_headers()
            return
        if self.path == "/openapi/v3" and self.server.status == 200:
            content = json.dumps(self.server.document).encode()
        elif "/nodes" in self.path and self.server.status == 200:
            content = (FOLDER / "nodes.json").read_bytes()
        elif self.path.partition("?")[0].endswith(EMPTY) and self.server.status == 200:
            name = self.path.partition("?")[0].rpartition("/")[2]
            content = json.dumps({name: [], **json.loads(content)}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""

    def address_string(self) -> str:
        """Return nothing: a socket in the file system has no address."""
        return ""


@contextmanager
def serving(tmp_path: Path) -> Iterator[tuple[Server, SlurmParams]]:
    """Give a server, and how it is reached."""
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(SECRET)
    with Server(str(tmp_path / "s")) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server, SlurmParams(rest=f"unix:{tmp_path}/s", token_file=str(token), user="ann")
        server.shutdown()


def test_reads_and_places(tmp_path: Path) -> None:
    """A job is placed by one call, with the user and the token in its header."""
    with serving(tmp_path) as (server, params):
        slurm = make_slurm(params)
        state = slurm.read()
        held = next(job for job in state.jobs if job.held)
        slurm.start(held, ["c2", "c3"])
        slurm.hold(held)
    headers = server.asked[0][2]
    start, hold = (asked for asked in server.asked if asked[0] == "POST")
    assert (headers["X-SLURM-USER-NAME"], headers["X-SLURM-USER-TOKEN"]) == ("ann", SECRET)
    assert start[:2] == ("POST", f"/slurm/v0.0.38/job/{held.key}")
    assert json.loads(start[3]) == {"nodelist": "c2,c3", "hold": False}
    assert json.loads(hold[3]) == {"nodelist": "", "hold": True}


def test_asks_for_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list that has not changed is not sent again, but for once in a while and after a change."""
    with serving(tmp_path) as (server, params):
        slurm = make_slurm(params)
        first = slurm.read()
        server.unchanged = True
        before = len(server.asked)
        assert slurm.read() == first
        assert all("?update_time=" in asked[1] for asked in server.asked[before:])
        slurm.hold(first.jobs[0])
        slurm.read()
        assert "?" not in server.asked[-1][1]
        monkeypatch.setattr("hpcsched_slurm.rest.IN_FULL", 0.0)
        slurm.read()
        assert "?" not in server.asked[-1][1]


def test_refuses_unknown_versions(tmp_path: Path) -> None:
    """A version that is not known is one clear message, and the token is in none."""
    with serving(tmp_path) as (server, params):
        slurm = make_slurm(params)
        server.document = {"paths": {"/slurm/v0.0.40/jobs/": {}}}
        offered = r"offers v0\.0\.40; expected v0\.0\.38 or v0\.0\.41 to v0\.0\.45"
        with pytest.raises(InputError, match=offered):
            slurm.read()
        server.status = 404
        with pytest.raises(InputError, match="answers in no known version"):
            slurm.read()
        tried = [path for _, path, _, _ in server.asked[-8:]]
        pings = [f"/slurm/v0.0.{number}/ping" for number in (45, 44, 43, 42, 41, 38)]
        assert tried == ["/openapi/v3", "/openapi", *pings]
        server.status = 401
        with pytest.raises(InputError, match="does not accept the token of ann") as caught:
            slurm.read()
    assert SECRET not in str(caught.value)


def test_refusals_and_silence(tmp_path: Path) -> None:
    """A change that Slurm refuses is told from one that nobody answers."""
    with serving(tmp_path) as (server, params):
        slurm = make_slurm(params)
        job = next(job for job in slurm.read().jobs if job.held)
        meta = json.loads(server.content)["meta"]
        server.status = 500
        error = {"error_number": 2017, "error": "Invalid job id specified"}
        server.content = json.dumps({"meta": meta, "errors": [error]}).encode()
        with pytest.raises(RefusedError, match="Invalid job id"):
            slurm.start(job, ["c1"])
        server.content = b"oops"
        with pytest.raises(UnavailableError, match="not JSON"):
            slurm.start(job, ["c1"])
        asked = len(server.asked)
        with pytest.raises(RefusedError, match="is no number of a job"):
            slurm.start(job._replace(key="1/../2"), ["c1"])
        assert len(server.asked) == asked
    listens = f"check that slurmrestd listens at unix:{tmp_path}/s, and with `scontrol ping` that"
    with pytest.raises(UnavailableError, match=f"jobs: Connection re.*; {listens}"):
        slurm.read()


def test_a_silent_slurmrestd(tmp_path: Path) -> None:
    """The call and the time for which it was waited for are told."""
    with serving(tmp_path) as (_, params):
        pass
    (tmp_path / "s").unlink()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        slurm = make_slurm(params.model_copy(update={"timeout": 1}))
        with pytest.raises(UnavailableError, match=r"GET /openapi/v3: no answer within 1 s; check"):
            slurm.read()


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n", b""])
def test_a_slurmrestd_that_trickles(tmp_path: Path, head: bytes) -> None:
    """An answer has one deadline, also where each of its bytes comes in time."""
    with serving(tmp_path) as (_, params):
        pass
    (tmp_path / "s").unlink()
    with socket.socket(socket.AF_UNIX) as slow:
        slow.bind(str(tmp_path / "s"))
        slow.listen()

        def trickle() -> None:
            connection, _ = slow.accept()
            with connection, suppress(OSError):
                connection.sendall(head)
                while True:
                    connection.sendall(b"H")
                    time.sleep(0.05)

        threading.Thread(target=trickle, daemon=True).start()
        rest = Rest(params)
        rest._params = params.model_copy(update={"timeout": 0.3})
        began = time.monotonic()
        with pytest.raises(UnavailableError, match=r"GET /openapi/v3: no answer within 0\.3 s"):
            rest.jobs()
        assert time.monotonic() - began < 5


def test_an_answer_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is longer than any of Slurm is not read to its end."""
    monkeypatch.setattr("hpcsched_slurm.rest.MOST_BYTES", 5000)
    with serving(tmp_path) as (server, params):
        server.content = b" " * 5001
        with pytest.raises(UnavailableError, match="jobs: the answer is longer than 5000 bytes"):
            Rest(params).jobs()
        server.content = b"[" * 5000
        with pytest.raises(UnavailableError, match="not JSON"):
            Rest(params).jobs()


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        (
            '[{"total": 1e999}]',
            r"licenses\.0\.total: expected a number of at most 64 bits, found inf",
        ),
        ('[{}, {"total": [NaN]}]', r"licenses\.1\.total\.0: expected .*, found nan"),
        (f'[{{"total": {2**64}}}]', r"licenses\.0\.total: .* found 18446744073709551616"),
        ("{}", "the answer has no list of licenses"),
    ],
)
def test_odd_numbers(tmp_path: Path, listed: str, told: str) -> None:
    """A number that no field of Slurm has is told with its place."""
    with serving(tmp_path) as (server, params):
        meta = json.dumps(json.loads(server.content)["meta"])
        server.content = f'{{"meta": {meta}, "licenses": {listed}}}'.encode()
        with pytest.raises(UnavailableError, match=f"slurmrestd: .*{told}"):
            Rest(params).licenses()


def test_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token comes from a file that is its owner's alone or the environment, and never shows."""
    path = tmp_path / "token"
    path.write_text(f"SLURM_JWT={SECRET}\n")
    path.chmod(0o640)
    with pytest.raises(InputError, match="others than its owner"):
        read_token(str(path))
    path.chmod(0o600)
    token = read_token(str(path))
    assert token.reveal() == SECRET
    assert SECRET not in f"{token} {token!r}"
    monkeypatch.delenv("SLURM_JWT", raising=False)
    with pytest.raises(InputError, match="a token is needed"):
        read_token(None)
    monkeypatch.setenv("SLURM_JWT", SECRET)
    assert read_token(None).reveal() == SECRET
    path.write_text("two words")
    with pytest.raises(InputError, match="holds no token"):
        read_token(str(path))


def test_only_this_machine() -> None:
    """A token is not sent to other machines."""
    for rest in ("http://slurm.example.org:6820", "https://127.0.0.1:6820", "unix:relative"):
        with pytest.raises(ValidationError, match="expected unix:"):
            SlurmParams(rest=rest)
    assert SlurmParams(rest="http://127.0.0.1:6820").address == ("127.0.0.1", 6820)
    with pytest.raises(ValidationError, match="are for 'rest'"):
        SlurmParams(token_file="/token")


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are given lists of arguments; names that are none are refused before."""
    log = tmp_path / "log"
    for name, prints in (("squeue", "jobs"), ("sinfo", "nodes"), ("scontrol", "")):
        script = tmp_path / name
        answer = f"cat {FOLDER / prints}.json" if prints else ":"
        script.write_text(
            f'#!/bin/sh\nprintf "%s " {name} "$@" >> {log}\necho >> {log}\n{answer}\n'
        )
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    slurm = make_slurm(SlurmParams())
    job = next(job for job in slurm.read().jobs if job.held)
    slurm.start(job, ["c2"])
    slurm.hold(job)
    assert [text.strip() for text in log.read_text().splitlines()] == [
        "squeue --json --states=all",
        "sinfo --json",
        "scontrol show reservations --oneliner",
        "scontrol show partitions",
        "scontrol show licenses --oneliner",
        f"scontrol update JobId={job.key} ReqNodeList=c2",
        f"scontrol release {job.key}",
        f"scontrol hold {job.key}",
        f"scontrol update JobId={job.key} ReqNodeList=",
    ]
    commands = Commands(SlurmParams())
    for key, nodes in (("1;ls", "c1"), ("1", "c1 c2"), ("--all", "c1")):
        with pytest.raises(RefusedError):
            commands.place(key, nodes)


def _runs(process: str) -> bool:
    """Tell whether a process runs; one that has ended may still be listed, as a zombie."""
    try:
        state = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_commands_without_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty list beside an error is no answer; a command that hangs is ended with its own."""
    config = tmp_path / "slurm.conf"
    config.touch()
    script = tmp_path / "squeue"
    errors = [{"error": "Unspecified error", "description": "Failed while looking for jobs"}]
    answer = json.dumps({**json.loads((FOLDER / "jobs.json").read_text()), "errors": errors})
    (tmp_path / "answer").write_text(answer)
    script.write_text(f"#!/bin/sh\ncat {tmp_path}/answer\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    check = f"; check with `scontrol ping` that slurmctld runs, and that {config} is its"
    commands = Commands(SlurmParams(config=str(config), timeout=1))
    with pytest.raises(UnavailableError) as caught:
        commands.jobs()
    said = str(caught.value)
    assert said.startswith(f"squeue --json --states=all: Failed while looking for jobs{check}")
    script.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/child\nwait\n")
    with pytest.raises(UnavailableError) as caught:
        commands.jobs()
    assert f"squeue --json --states=all: no answer within 1 s{check}" in str(caught.value)
    child = (tmp_path / "child").read_text().strip()
    # The signal is sent by then; a busy machine may carry it out later.
    until = time.monotonic() + 30
    while _runs(child):
        assert time.monotonic() < until, f"process {child} still runs"
        time.sleep(0.05)


def test_a_missing_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told before Slurm's commands look for it for a minute."""
    gone = str(tmp_path / "slurm.conf")
    with pytest.raises(InputError, match=f"as 'config' names it, found no file {gone}"):
        make_slurm(SlurmParams(config=gone))
    monkeypatch.setenv("SLURM_CONF", gone)
    with pytest.raises(InputError, match="as the variable SLURM_CONF names it, found no file"):
        make_slurm(SlurmParams())


@pytest.mark.parametrize(
    ("value", "enforced"),
    [("associations,limits,qos", {"associations", "limits", "qos"}), ("", {""}), (None, None)],
)
def test_what_is_enforced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, enforced: set[str] | None
) -> None:
    """The configuration says it; without a word of it, it is unknown."""
    script = tmp_path / "scontrol"
    line = "ClusterName = test" if value is None else f"AccountingStorageEnforce = {value}"
    script.write_text(f"#!/bin/sh\necho '{line}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert Commands(SlurmParams()).enforced() == enforced
    with serving(tmp_path) as (_, params):
        assert Rest(params).enforced() == enforced
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        assert Rest(params).enforced() is None


def test_tasks_of_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where slurmrestd refuses single tasks, `scontrol` changes them with the token's rights."""
    log = tmp_path / "log"
    script = tmp_path / "scontrol"
    script.write_text(f'#!/bin/sh\necho "$SLURM_JWT" "$SLURM_CONF" "$@" >> {log}\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with serving(tmp_path) as (server, params):
        server.document = {"paths": {"/slurm/v0.0.42/jobs/": {}}}
        answer = {"meta": {"plugin": {"data_parser": "data_parser/v0.0.42"}}, "errors": []}
        server.content = json.dumps(answer).encode()
        rest = Rest(params.model_copy(update={"config": "/slurm.conf"}))
        rest.place("7", "c1")
        rest.place("7_2", "c2")
        rest.hold("7_2")
        posted = [path for method, path, _, _ in server.asked if method == "POST"]
        monkeypatch.setenv("PATH", str(tmp_path / "empty"))
        with pytest.raises(RefusedError, match="no single task of an array"):
            rest.place("7_3", "c2")
    assert posted == ["/slurm/v0.0.42/job/7"]
    assert log.read_text().splitlines() == [
        f"{SECRET} /slurm.conf update JobId=7_2 ReqNodeList=c2",
        f"{SECRET} /slurm.conf release 7_2",
        f"{SECRET} /slurm.conf hold 7_2",
        f"{SECRET} /slurm.conf update JobId=7_2 ReqNodeList=",
    ]
