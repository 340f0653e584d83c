"""Files without an end, and lines and comments without one, are refused in bounded memory."""

import bz2
import gzip
import lzma
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from hpcsched import cli
from tests.fuzz.readers import READERS, scenario

MIB = 2**20
MOST_MEMORY = 64 * MIB
"""Maximum allocation of Python while a file is refused."""

RECORD = b"1 0 -1 60 2 -1 -1 2 90 -1 1 1 1 1 1 1 -1 -1\n"


def packed_by_zstandard(data: bytes) -> bytes:
    """Return one frame of Zstandard."""
    packed = pa.compress(data, codec="zstd", asbytes=True)
    assert isinstance(packed, bytes)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "xz": lambda data: lzma.compress(data, preset=0),
    "bz2": bz2.compress,
    "zst": packed_by_zstandard,
}
CONTENTS = {
    "zeros": b"\0" * (16 * MIB),
    "a line": RECORD + b"1 " * (8 * MIB),
    "comments": b"; a comment that goes on and on\n" * (MIB // 2),
}


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files that are small and unpack to 16 MiB each."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, content in CONTENTS.items():
        for ending, pack in PACKERS.items():
            # Compression takes its time: one of them for all contents, all for one content.
            if ending == "gz" or name == "zeros":
                (folder / f"{name}.{ending}").write_bytes(pack(content))
    return folder


def refused(*arguments: object) -> None:
    """Run a command on a file that it refuses, in little memory."""
    tracemalloc.start()
    try:
        assert cli.main(list(map(str, arguments))) == 1
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("what", ["pipe", "device", "zeros", "hole"])
def test_no_end(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each reader refuses a pipe, a device, a sparse file, and a log with a hole of 64 GiB."""
    path = Path("/dev/zero") if what == "device" else tmp_path / "log"
    if what == "pipe":
        os.mkfifo(path)
    elif what in {"zeros", "hole"}:
        path.write_bytes(RECORD if what == "hole" else b"")
        os.truncate(path, 64 * 2**30)
    told = {"pipe": "expected a file, found a pipe", "device": "expected a file, found a device"}
    for arguments in (
        ["try"],
        ["trace", "info"],
        ["validate"],
        ["run"],
        ["try", "--preset=philly"],
    ):
        refused(*arguments, path)
        assert f"{path}:" in (err := "".join(capsys.readouterr()))
        assert told.get(what, "error: ") in err
    for source in READERS:
        refused("trace", "info", scenario(tmp_path, source, path))
        assert f"{path}:" in (err := capsys.readouterr().err)
        assert told.get(what, "error: ") in err


def test_configurations_without_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scenarios have at most 8 MiB, files of Slurm at most 256 MiB; neither may be a pipe."""
    path = tmp_path / "scenario.yaml"
    path.write_bytes(b"name: x\n")
    os.truncate(path, 2**33)
    refused("validate", path)
    assert "expected at most 8 MiB, found more" in capsys.readouterr().out
    assert cli.main(["trace", "system-from", str(path)]) == 1
    assert "expected at most 256 MiB, found more" in capsys.readouterr().err
    path.unlink()
    os.mkfifo(path)
    for arguments in (["validate"], ["trace", "system-from"]):
        refused(*arguments, path)
        assert "found a pipe" in "".join(capsys.readouterr())


@pytest.mark.slow
def test_packed_without_end(
    bombs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """16 MiB of zeros, of one line and of comments in a small file are refused by each reader."""
    tried = 0
    for path in sorted(bombs.iterdir()):
        refused("try", path)
        refused("trace", "info", path)
        for source in READERS:
            # Comments are none in other formats: each is a record that is malformed.
            refused("trace", "info", scenario(tmp_path, source, path))
            tried += 1
        assert str(path) in capsys.readouterr().err
    assert tried == len(READERS) * 6
