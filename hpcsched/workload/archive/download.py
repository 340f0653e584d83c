"""Catalogue of logs of the Parallel Workloads Archive, and download of files with their hashes.

The archive is https://www.cs.huji.ac.il/labs/parallel/workload/. A file is put in place when it is
complete and has the expected hash.
"""

import hashlib
import http.client
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import NamedTuple
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


class Fetched(NamedTuple):
    """File in place: its hash, its bytes, and whether this call has received it."""

    sha256: str
    size: int
    received: bool


def fetch(
    address: str,
    path: Path,
    sha256: str | None = None,
    *,
    timeout: float = TIMEOUT,
    progress: Callable[[int, int | None], None] | None = None,
) -> Fetched:
    """Download a file; one that exists is checked and left alone.

    Parameters
    ----------
    sha256
        Expected hash; None: any.
    timeout
        Seconds without bytes after which the transfer fails.
    progress
        Called with the bytes so far and the total, or None if that is unknown.
    """
    received = not path.exists()
    part = path.with_name(f".{path.name}.part") if received else path
    try:
        if received:
            path.parent.mkdir(parents=True, exist_ok=True)
            _transfer(address, part, timeout, progress)
        with part.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 not in (None, digest):
            hint = "" if received else "; remove the file to fetch it anew"
            message = f"expected a file with the SHA-256 {sha256}, found {digest}{hint}"
            raise _problem("unexpected-content", str(path), message)
        # The rename is atomic: the target never holds an unchecked or partial file.
        part.replace(path)
    except OSError as error:
        message = f"the file cannot be used: {error.strerror or error}"
        raise _problem("unusable-file", str(path), message) from None
    finally:
        if received:
            with suppress(OSError):
                part.unlink()
    return Fetched(digest, path.stat().st_size, received)


def _transfer(
    address: str, part: Path, timeout: float, progress: Callable[[int, int | None], None] | None
) -> None:
    size, whole = 0, None
    with part.open("wb") as file:
        try:
            request = urllib.request.Request(address, headers={"User-Agent": "hpcsched"})
            with urllib.request.urlopen(request, timeout=timeout) as response:
                length = response.headers["Content-Length"]
                whole = int(length) if length and length.isdecimal() else None
                while chunk := response.read(_CHUNK):
                    file.write(chunk)
                    size += len(chunk)
                    if progress is not None:
                        progress(size, whole)
        except urllib.error.HTTPError as error:
            error.close()
            message = f"the server answers {error.code} {error.reason}"
            raise _problem("cannot-fetch", address, message) from None
        except (http.client.HTTPException, urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error) or type(error).__name__
            message = f"the server cannot be reached: {reason}"
            raise _problem("cannot-fetch", address, message) from None
    if not size or (whole is not None and size < whole):
        of = "" if whole is None else f" of {whole}"
        message = f"the transfer broke off after {size}{of} bytes"
        raise _problem("broken-off", address, message)


def _problem(rule: str, where: str, message: str) -> InputError:
    return InputError(Finding(rule, message, Place(where)))
