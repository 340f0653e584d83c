"""Compressed logs are recognised by content; damage is told, and archives are refused."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.swf_lines import SwfLines
from hpcsched.workload.readers.text_files import DAMAGE, unpacked

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
    with path.open("rb") as raw:
        assert unpacked(raw).read() == TEXT


@pytest.mark.parametrize("packer", sorted(set(PACKERS) - {"plain"}))
def test_cut_off(packer: str) -> None:
    """Half of a compressed file is damage, not a shorter log."""
    half = PACKERS[packer](TEXT)[: len(PACKERS[packer](TEXT)) // 2]
    with pytest.raises(DAMAGE):
        unpacked(io.BytesIO(half)).read()


@pytest.mark.parametrize("packer", ["xz", "bzip2", "zstandard"])
def test_damage_names_the_line(tmp_path: Path, packer: str) -> None:
    """The user is told that the file is damaged."""
    path = tmp_path / "log.swf"
    path.write_bytes(PACKERS[packer](TEXT)[:-200])
    with pytest.raises(InputError, match="expected a whole compressed file, found damage after"):
        list(SwfLines(path).records())


def test_zip_archive(tmp_path: Path) -> None:
    """An archive may hold several files."""
    path = tmp_path / "log.zip"
    path.write_bytes(b"PK\x03\x04and so on")
    with path.open("rb") as raw, pytest.raises(InputError, match=r"log\.zip.*unpack it first"):
        unpacked(raw)


def test_streams_of_xz(tmp_path: Path) -> None:
    """Several streams are one text, also with zero bytes between them."""
    path = tmp_path / "log.swf.xz"
    path.write_bytes(lzma.compress(b"1 2\n") + b"\0" * 8 + lzma.compress(b"3 4\n") + b"\0" * 4)
    assert list(SwfLines(path).records()) == [(1, b"1 2"), (2, b"3 4")]


def test_a_window_of_four_gibibytes(tmp_path: Path) -> None:
    """A header that asks for more memory than any preset of xz is refused, not tried."""
    packed = bytearray(lzma.compress(TEXT))
    size = (packed[12] + 1) * 4
    window = packed.index(0x21, 12) + 2  # behind the number of the filter, and the size of its key
    packed[window] = 40
    packed[8 + size : 12 + size] = zlib.crc32(bytes(packed[12 : 8 + size])).to_bytes(4, "little")
    path = tmp_path / "log.swf.xz"
    path.write_bytes(packed)
    with pytest.raises(InputError, match="Memory usage limit exceeded"):
        list(SwfLines(path).records())
