"""Logs are fetched from a server on this machine, which breaks off, refuses and lies."""

import gzip
import hashlib
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.archive.download import Fetched, Log, fetch, find_log, read_catalogue

DATA = gzip.compress(random.Random(0).randbytes(300_000), mtime=0)
HASH = hashlib.sha256(DATA).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `data` at every address, in the manner that is set, and notes what it was asked."""

    daemon_threads = True
    data = DATA
    manner = "whole"
    breaks_after = len(DATA)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = 0

    @property
    def address(self) -> str:
        """Where the file is."""
        return f"http://127.0.0.1:{self.server_port}/logs/log.swf.gz"


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Send all of the file, or its beginning, or something else."""
        server = self.server
        server.requests += 1
        if server.manner == "404":
            self.send_error(404)
            return
        if server.manner == "silent":
            self.connection.settimeout(5)
            self.connection.recv(1)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(server.data)))
        self.end_headers()
        self.wfile.write(server.data[: server.breaks_after])


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server in a thread."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that behaves until told otherwise."""
    monkeypatch.setenv("no_proxy", "*")
    with serving() as running:
        yield running


def rule(server: Server, path: Path, sha256: str | None = None) -> str:
    """Return the rule of the one finding with which fetching ends."""
    with pytest.raises(InputError) as caught:
        fetch(server.address, path, sha256, timeout=5)
    (finding,) = caught.value.findings
    return finding.rule


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(file.name for file in folder.iterdir())


def test_a_whole_file(server: Server, tmp_path: Path) -> None:
    """It comes with its hash, in a folder that need not be there; once is enough."""
    path = tmp_path / "traces" / "log.swf.gz"
    told: list[tuple[int, int | None]] = []
    result = fetch(server.address, path, HASH, progress=lambda *size: told.append(size))
    assert result == Fetched(HASH, len(DATA), received=True)
    assert path.read_bytes() == DATA
    assert names(path.parent) == ["log.swf.gz"]
    assert told[-1] == (len(DATA), len(DATA))
    assert fetch(server.address, path) == Fetched(HASH, len(DATA), received=False)
    assert server.requests == 1


def test_a_transfer_that_breaks_off(server: Server, tmp_path: Path) -> None:
    """Nothing of it is kept; the next transfer begins anew."""
    path = tmp_path / "log.swf.gz"
    server.breaks_after = 100_000
    assert rule(server, path) == "broken-off"
    assert names(tmp_path) == []
    server.breaks_after = len(DATA)
    assert fetch(server.address, path, HASH) == Fetched(HASH, len(DATA), received=True)


def test_another_file(server: Server, tmp_path: Path) -> None:
    """A whole file that is not the one of the catalogue is refused."""
    assert rule(server, tmp_path / "log.swf.gz", "0" * 64) == "unexpected-content"
    assert names(tmp_path) == []


def test_what_is_there_is_checked(server: Server, tmp_path: Path) -> None:
    """Another file is named, and left alone; no server is asked."""
    path = tmp_path / "log.swf.gz"
    path.write_bytes(DATA)
    assert rule(server, path, "0" * 64) == "unexpected-content"
    assert fetch(server.address, path).sha256 == HASH
    assert path.read_bytes() == DATA
    assert rule(server, tmp_path) == "unusable-file"
    assert server.requests == 0


def test_refusals(server: Server, tmp_path: Path) -> None:
    """A missing file, a silent server, no server, no folder to write into."""
    path = tmp_path / "log.swf.gz"
    server.manner = "404"
    with pytest.raises(InputError, match="the server answers 404 Not Found"):
        fetch(server.address, path)
    server.manner = "silent"
    with pytest.raises(InputError, match=r"the server cannot be reached: .*timed out"):
        fetch(server.address, path, timeout=0.3)
    for address in ("http://127.0.0.1:1/log.swf.gz", "nonsense"):
        with pytest.raises(InputError, match="the server cannot be reached: "):
            fetch(address, path, timeout=5)
    assert names(tmp_path) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the file cannot be used"):
        fetch(server.address, tmp_path / "file" / "log.swf.gz")


def test_the_catalogue() -> None:
    """Every entry has what a user needs, and names and files are unlike."""
    logs = read_catalogue()
    assert len({log.name for log in logs}) == len({log.file_name for log in logs}) == len(logs)
    for log in logs:
        assert log.file_name == f"{log.name}.swf.gz"
        assert log.address.startswith("https://www.cs.huji.ac.il/labs/parallel/workload/l_")
        assert log.about and log.acknowledge and "Feitelson" in log.cite
        assert log.sha256 is None or len(log.sha256) == 64
    assert find_log("KTH-SP2-1996-2.swf.gz", logs).name == "KTH-SP2-1996-2"
    with pytest.raises(InputError, match="no log 'KTH-SP2'; did you mean 'KTH-SP2-1996-2"):
        find_log("KTH-SP2", logs)
    with pytest.raises(InputError, match="there are: KTH-SP2-1996-2, "):
        find_log("?", logs)


def log_at(server: Server, sha256: str | None = None) -> Log:
    """Return an entry of a catalogue for the log of a server."""
    return Log("log", "made up", server.address, "somebody", "a paper", "kth-sp2", sha256)
