"""Catalogue of logs, and download of files: resumes interrupted transfers, refuses damaged files.

The logs are those of the Parallel Workloads Archive,
https://www.cs.huji.ac.il/labs/parallel/workload/.

An unfinished transfer is in a hidden file beside the target, with the server's identifier of that
version of the file; the transfer resumes only if the server still has that version. A complete file
is checked (gzip and zip files are unpacked once, Parquet files have their marks), compared with the
expected hash, and put in place together with its own hash.
"""

import gzip
import hashlib
import http.client
import os
import tomllib
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from hpcsched.errors import Finding, InputError, Place

CATALOGUE = Path(__file__).with_name("logs.toml")


@dataclass(frozen=True, slots=True)
class Log:
    """Log that can be downloaded.

    Attributes
    ----------
    sha256
        Hash of the file; None if unknown.
    """

    name: str
    about: str
    address: str
    acknowledge: str
    cite: str
    system: str
    sha256: str | None = None

    @property
    def file_name(self) -> str:
        """Name of the file."""
        return PurePosixPath(urlsplit(self.address).path).name


def read_catalogue() -> list[Log]:
    """Return the logs of the catalogue, in its order."""
    data = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))
    return [Log(cite=data["cite"], **entry) for entry in data["logs"]]


def find_log(name: str, logs: list[Log], others: Sequence[str] = ()) -> Log:
    """Return a log by its name, or by the name of its file."""
    for log in logs:
        if name in (log.name, log.file_name):
            return log
    names = [*(log.name for log in logs), *others]
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(names)}"
    raise InputError(Finding("unknown-log", f"the catalogue has no log {name!r}; {hint}"))


TIMEOUT = 30.0
"""Seconds without an answer, or without further bytes, after which the transfer fails."""

_CHUNK = 2**16
_AGENT = "hpcsched"
_KINDS = {".gz": "gzip", ".zip": "zip", ".parquet": "Parquet"}
_MARK = b"PAR1"


@dataclass(frozen=True, slots=True)
class Fetched:
    """Downloaded file.

    Attributes
    ----------
    size
        Its bytes.
    received
        Bytes received by this call; 0 if the file was there already.
    resumed
        Whether an earlier transfer was continued.
    """

    path: Path
    sha256: str
    size: int
    received: int
    resumed: bool


def fetch(
    address: str,
    path: Path,
    sha256: str | None = None,
    *,
    timeout: float = TIMEOUT,
    progress: Callable[[int, int | None], None] | None = None,
) -> Fetched:
    """Download a file, and write its SHA-256 beside it.

    A file that exists is checked and left alone.

    Parameters
    ----------
    sha256
        Expected hash; None: any.
    timeout
        Seconds without bytes after which the transfer fails.
    progress
        Called with the bytes so far and the total, or None if that is unknown.
    """
    if path.exists():
        return _checked(path, sha256)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = _Part(path)
        received, resumed = _transfer(address, part, timeout, progress)
        try:
            digest = _digest(part.path, sha256, path)
        except InputError:
            part.remove()
            raise
        # The rename is atomic: the target never holds an unchecked or partial file.
        part.path.replace(path)
        part.remove()
        _hash_file(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    except OSError as error:
        raise _problem(
            "cannot-write", str(path), f"it cannot be written: {error.strerror or error}"
        ) from None
    return Fetched(path, digest, path.stat().st_size, received, resumed)


class _Part:
    """Received part of a file, and its version."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f".{path.name}.part")
        self._version = path.with_name(f".{path.name}.version")

    @property
    def size(self) -> int:
        """Number of received bytes."""
        return self.path.stat().st_size if self.path.is_file() else 0

    @property
    def version(self) -> str:
        """The server's identifier of this version; empty if unknown."""
        try:
            return self._version.read_text(encoding="latin-1").strip()
        except OSError:
            return ""

    def begin(self, version: str) -> None:
        """Start anew with an empty file."""
        self.path.write_bytes(b"")
        self._version.write_text(version, encoding="latin-1")

    def remove(self) -> None:
        """Delete the received part."""
        for file in (self.path, self._version):
            with suppress(FileNotFoundError):
                file.unlink()


def _transfer(
    address: str,
    part: _Part,
    timeout: float,
    progress: Callable[[int, int | None], None] | None,
) -> tuple[int, bool]:
    """Download the missing part."""
    before = part.size if part.version else 0
    headers = {"User-Agent": _AGENT}
    if before:
        headers |= {"Range": f"bytes={before}-", "If-Range": part.version}
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=timeout) as response:
            if before and not _goes_on(response, before):
                before = 0
            if not before:
                part.begin(response.headers["ETag"] or response.headers["Last-Modified"] or "")
            length = response.headers["Content-Length"]
            whole = before + int(length) if length and length.isdecimal() else None
            received = _receive(response, part.path, before, whole, progress)
    except urllib.error.HTTPError as error:
        error.close()
        # The part is at least as long as the server's file, so it is of another version.
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and before:
            part.remove()
            return _transfer(address, part, timeout, progress)
        message = f"the server answers {error.code} {error.reason}"
        raise _problem("cannot-fetch", address, message) from None
    except (
        urllib.error.URLError,
        http.client.HTTPException,
        ConnectionError,
        TimeoutError,
        ValueError,
    ) as error:
        reason = getattr(error, "reason", error) or type(error).__name__
        message = f"the server cannot be reached: {reason}"
        raise _problem("cannot-fetch", address, message) from None
    if whole is not None and before + received < whole:
        raise _broken_off(address, before + received, whole)
    return received, before > 0


def _goes_on(response: http.client.HTTPResponse, before: int) -> bool:
    """Return whether an answer continues the file; a server may send all of it instead."""
    where = response.headers["Content-Range"] or ""
    return response.status == http.client.PARTIAL_CONTENT and where.startswith(f"bytes {before}-")


def _receive(
    response: http.client.HTTPResponse,
    path: Path,
    before: int,
    whole: int | None,
    progress: Callable[[int, int | None], None] | None,
) -> int:
    """Append received bytes; raise InputError if the server falls silent."""
    received = 0
    with path.open("ab") as file:
        while True:
            try:
                chunk = response.read(_CHUNK)
            except (OSError, http.client.HTTPException):  # silence, or a connection that is reset
                raise _broken_off(response.url, before + received, whole) from None
            if not chunk:
                return received
            file.write(chunk)
            received += len(chunk)
            if progress is not None:
                progress(before + received, whole)


def _broken_off(address: str, size: int, whole: int | None) -> InputError:
    of = "" if whole is None else f" of {whole}"
    message = f"the transfer broke off after {size}{of} bytes; the same command goes on from there"
    return _problem("broken-off", address, message)


def _checked(path: Path, sha256: str | None) -> Fetched:
    """Return a file that exists already; raise InputError if it is not the expected one."""
    expected = sha256
    if expected is None:
        with suppress(OSError, IndexError):
            expected = _hash_file(path).read_text(encoding="utf-8").split()[0]
    try:
        digest = _digest(path, expected, path)
        if not _hash_file(path).exists():
            _hash_file(path).write_text(f"{digest}  {path.name}\n", encoding="utf-8")
        return Fetched(path, digest, path.stat().st_size, 0, resumed=False)
    except InputError as error:
        (finding,) = error.findings
        message = f"{finding.message}; remove the file to fetch it anew"
        raise _problem(finding.rule, str(path), message) from None
    except OSError as error:
        message = f"the file cannot be used: {error.strerror or error}"
        raise _problem("unreadable-file", str(path), message) from None


def _digest(file: Path, expected: str | None, path: Path) -> str:
    """Return the SHA-256 of a file."""
    hashed = hashlib.sha256()
    with file.open("rb") as raw:
        while chunk := raw.read(_CHUNK):
            hashed.update(chunk)
    digest = hashed.hexdigest()
    _check_whole(file, path)
    if expected is not None and digest != expected:
        message = f"expected a file with the SHA-256 {expected}, found {digest}"
        raise _problem("unexpected-content", str(path), message)
    return digest


def _check_whole(file: Path, path: Path) -> None:
    """Raise InputError if a file is damaged, as far as its format shows that."""
    kind = _KINDS.get(path.suffix, "data")
    if not file.stat().st_size:  # which the reader of gzip files takes for a whole one
        raise _problem("damaged-download", str(path), f"expected a {kind} file, found nothing")
    try:
        if kind == "gzip":
            with gzip.open(file) as packed:
                while packed.read(_CHUNK):
                    pass
        elif kind == "zip":
            with zipfile.ZipFile(file) as archive:
                damaged = archive.testzip()
                if damaged is not None:
                    raise zipfile.BadZipFile(damaged)
        elif kind == "Parquet":
            with file.open("rb") as raw:
                first = raw.read(len(_MARK))
                raw.seek(-min(len(_MARK), file.stat().st_size), os.SEEK_END)
                if first != _MARK or raw.read() != _MARK:
                    raise EOFError("its first and last bytes are not PAR1")
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        message = f"expected a whole {kind} file, found damage: {error}"
        raise _problem("damaged-download", str(path), message) from None


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _problem(rule: str, where: str, message: str) -> InputError:
    return InputError(Finding(rule, message, Place(where)))
