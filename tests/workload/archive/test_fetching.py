"""Logs are fetched from a server on this machine, which resumes, breaks off, refuses and lies."""

import gzip
import hashlib
import io
import random
import threading
import zipfile
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
    tag = '"1"'
    manner = "whole"
    breaks_after = len(DATA)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []

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
        """Send all of the file, or the rest of it, or something else."""
        server, data, start = self.server, self.server.data, 0
        asked = self.headers["Range"]
        server.ranges.append(asked)
        if server.manner == "404":
            self.send_error(404)
            return
        if server.manner == "silent":
            self.connection.settimeout(5)
            self.connection.recv(1)
            return
        if asked and self.headers["If-Range"] == server.tag and server.manner != "no range":
            start = int(asked.removeprefix("bytes=").rstrip("-"))
            if start >= len(data) or server.manner == "416":
                server.manner = "whole"
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        if server.tag:
            self.send_header("ETag", server.tag)
        if server.manner != "no length":
            self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : start + server.breaks_after])


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
    assert result == Fetched(path, HASH, len(DATA), len(DATA), resumed=False)
    assert path.read_bytes() == DATA
    assert (path.parent / "log.swf.gz.sha256").read_text() == f"{HASH}  log.swf.gz\n"
    assert names(path.parent) == ["log.swf.gz", "log.swf.gz.sha256"]
    assert told[-1] == (len(DATA), len(DATA))
    assert fetch(server.address, path) == Fetched(path, HASH, len(DATA), 0, resumed=False)
    assert server.ranges == [None]


def test_a_transfer_that_breaks_off(server: Server, tmp_path: Path) -> None:
    """Nothing is put in place, and the next transfer goes on."""
    path = tmp_path / "log.swf.gz"
    server.breaks_after = 100_000
    assert rule(server, path) == "broken-off"
    assert not path.exists()
    assert rule(server, path) == "broken-off"
    server.breaks_after = len(DATA)
    result = fetch(server.address, path, HASH)
    assert result == Fetched(path, HASH, len(DATA), len(DATA) - 200_000, resumed=True)
    assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert names(tmp_path) == ["log.swf.gz", "log.swf.gz.sha256"]


@pytest.mark.parametrize("manner", ["no range", "416", "no length"])
def test_servers_that_do_not_resume(manner: str, server: Server, tmp_path: Path) -> None:
    """They send everything again, and what came before is dropped."""
    path = tmp_path / "log.swf.gz"
    server.breaks_after = 100_000
    assert rule(server, path) == "broken-off"
    server.breaks_after, server.manner = len(DATA), manner
    result = fetch(server.address, path, HASH)
    assert (result.sha256, path.read_bytes()) == (HASH, DATA)
    assert result.resumed == (manner == "no length")


def test_another_version(server: Server, tmp_path: Path) -> None:
    """What has changed on the server is fetched anew; without a tag, nothing is gone on with."""
    path = tmp_path / "log.swf.gz"
    server.breaks_after = 100_000
    assert rule(server, path) == "broken-off"
    server.breaks_after, server.tag = 10**6, '"2"'
    server.data = gzip.compress(b"another", mtime=0)
    fetch(server.address, path)
    assert gzip.decompress(path.read_bytes()) == b"another"
    untagged = tmp_path / "other.swf.gz"
    server.breaks_after, server.tag, server.data = 1000, "", DATA
    assert rule(server, untagged) == "broken-off"
    server.breaks_after = len(DATA)
    assert not fetch(server.address, untagged, HASH).resumed
    assert server.ranges[-1] is None


DAMAGED = {
    "a flipped byte": DATA[:-6] + bytes([DATA[-6] ^ 1]) + DATA[-5:],
    "cut off": DATA[:-10],
    "a page instead": b"<html>moved</html>",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damage(kind: str, server: Server, tmp_path: Path) -> None:
    """What is damaged is refused, and nothing of it is kept."""
    server.data = DAMAGED[kind]
    assert rule(server, tmp_path / "log.swf.gz") == "damaged-download"
    assert names(tmp_path) == []


def test_another_file(server: Server, tmp_path: Path) -> None:
    """A whole file that is not the one of the catalogue is refused."""
    assert rule(server, tmp_path / "log.swf.gz", "0" * 64) == "unexpected-content"
    assert names(tmp_path) == []


def test_what_is_there_is_checked(server: Server, tmp_path: Path) -> None:
    """A file that is damaged or another one is named, and left alone; no server is asked."""
    path = tmp_path / "log.swf.gz"
    path.write_bytes(DATA[:-10])
    assert rule(server, path) == "damaged-download"
    path.write_bytes(DATA)
    assert rule(server, path, "0" * 64) == "unexpected-content"
    assert fetch(server.address, path).sha256 == HASH
    (tmp_path / "log.swf.gz.sha256").write_text(f"{'0' * 64}  log.swf.gz\n")
    assert rule(server, path) == "unexpected-content"
    assert path.read_bytes() == DATA
    assert rule(server, tmp_path) == "unreadable-file"
    assert server.ranges == []


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
    with pytest.raises(InputError, match="it cannot be written"):
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


def _zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("jobs.csv", "a,b\n1,2\n" * 100)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "damaged"),
    [
        ("jobs.zip", _zipped(), _zipped()[:-9]),
        ("jobs.parquet", b"PAR1...PAR1", b"PAR1...PAR"),
        ("jobs.csv", b"a,b\n", b""),
    ],
)
def test_other_formats(tmp_path: Path, name: str, data: bytes, damaged: bytes) -> None:
    """Each is checked as far as it can be, and put in place as it came."""
    with serving() as server:
        address = server.address.replace("log.swf.gz", name)
        server.data = damaged
        with pytest.raises(InputError, match="damaged-download"):
            fetch(address, tmp_path / name)
        server.data = data
        assert fetch(address, tmp_path / name).size == len(data)
        assert (tmp_path / name).read_bytes() == data
