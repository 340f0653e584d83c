"""Compressed logs are recognised by content; damage is told, and archives are refused."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.swf import SwfLines
from hpcsched.workload.readers.text_files import TextLines, read_text

TEXT = b"".join(b"%d 0 1 2\n" % n for n in range(20_000))


def packed_by_zstandard(data: bytes) -> bytes:
    """Return one frame of Zstandard."""
    packed = pa.compress(data, codec="zstd", asbytes=True)
    assert isinstance(packed, bytes)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstandard": packed_by_zstandard,
    "plain": bytes,
}


@pytest.mark.parametrize("packer", PACKERS)
def test_unpacked(tmp_path: Path, packer: str) -> None:
    """The name of the file does not matter."""
    path = tmp_path / "log.swf"
    path.write_bytes(PACKERS[packer](TEXT))
    assert read_text(path) == TEXT.decode()


@pytest.mark.parametrize("packer", sorted(set(PACKERS) - {"plain"}))
@pytest.mark.parametrize("lost", [20, 1000])
def test_damage(tmp_path: Path, packer: str, lost: int) -> None:
    """A part of a compressed file is damage, not a shorter log."""
    path = tmp_path / "log.swf"
    path.write_bytes(PACKERS[packer](TEXT)[:-lost])
    for read in (
        lambda: list(SwfLines(path).blocks()),
        lambda: list(TextLines(path).records()),
        lambda: read_text(path),
    ):
        with pytest.raises(InputError, match="expected a whole compressed file, found damage"):
            read()


def test_zip_archive(tmp_path: Path) -> None:
    """An archive may hold several files."""
    path = tmp_path / "log.zip"
    path.write_bytes(b"PK\x03\x04and so on")
    with pytest.raises(InputError, match=r"log\.zip.*unpack it first"):
        read_text(path)
