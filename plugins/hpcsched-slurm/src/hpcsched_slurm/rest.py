"""Slurm through slurmrestd, over a UNIX socket or the loopback interface."""

import errno
import getpass
import http.client
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from hpcsched import Finding, InputError
from hpcsched.system.cluster import RefusedError, UnavailableError
from hpcsched_slurm.arrays import checked_key
from hpcsched_slurm.commands import Commands
from hpcsched_slurm.credentials import Token, error_list, errors_in_words, read_token
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.policy_reading import ASSOCIATION_FIELDS, QOS_FIELDS, Record, records_of_json
from hpcsched_slurm.versions import (
    AS_OLDEST,
    NEWER,
    OLDEST,
    best_version,
    check_version,
    newer_warning,
    odd_number,
    plain_jobs,
    plain_nodes,
    plain_partitions,
    plain_reservations,
    unknown_version,
    version_name,
)

IN_FULL = 10.0
"""Seconds after which a list is read again though Slurm says that nothing has changed."""

MOST_BYTES = 2**29
"""Largest length of an answer: about 100,000 jobs of slurmdbd, a tenth of which is usual."""

_OFFERED = re.compile(r"/slurm/v0\.0\.(\d+)/jobs/?")
_DOCUMENTS = ("/openapi/v3", "/openapi")
_LOG = logging.getLogger("hpcsched_slurm.syntax")


class _UnixConnection(http.client.HTTPConnection):
    """A connection to a socket in the file system."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _Known(NamedTuple):
    """A list that was read, and when it was asked for, in seconds since 1970."""

    asked: float
    content: list[Mapping[str, Any]]


class Rest:
    """Calls of slurmrestd, in the newest of its versions that is known.

    Raises InputError where none of them is known, or the token is bad.
    """

    def __init__(self, params: SlurmParams) -> None:
        self._params = params
        self._token: Token = read_token(params.token_file)
        self._user = params.user or getpass.getuser()
        self._known: dict[str, _Known] = {}
        self._version: int | None = None

    def jobs(self) -> list[Mapping[str, Any]]:
        """Return all jobs that Slurm still knows; raises UnavailableError without an answer."""
        return plain_jobs(self._spoken(), self._list("jobs"))

    def nodes(self) -> list[Mapping[str, Any]]:
        """Return all nodes; raises UnavailableError without an answer."""
        return plain_nodes(self._spoken(), self._list("nodes"))

    def partitions(self) -> list[Mapping[str, str]]:
        """Return all partitions; raises UnavailableError without an answer."""
        return plain_partitions(self._spoken(), self._list("partitions"))

    def lists_subaccounts(self) -> bool:
        """Return whether lists of accounts include the accounts below, as in later versions."""
        return self._spoken() not in AS_OLDEST

    def reservations(self) -> list[Mapping[str, Any]]:
        """Return all reservations; raises UnavailableError without an answer."""
        return plain_reservations(self._spoken(), self._list("reservations"))

    def licenses(self) -> list[Mapping[str, Any]]:
        """Return all licences; raises UnavailableError without an answer."""
        return self._list("licenses")

    def qos(self) -> list[Record]:
        """Return all QOS of the accounting; raises UnavailableError without an answer."""
        return records_of_json(self._checked("qos"), QOS_FIELDS)

    def associations(self) -> list[Record]:
        """Return all associations of the accounting; raises UnavailableError without an answer."""
        return records_of_json(self._checked("associations"), ASSOCIATION_FIELDS)

    def enforced(self) -> frozenset[str] | None:
        """Return the words of `AccountingStorageEnforce`; None: unknown.

        Only `scontrol` tells them.
        """
        try:
            return Commands(self._params, self._token).enforced()
        except (InputError, UnavailableError):
            return None

    def time_usage(self) -> str:
        """Return the limits over time with their usage; only `scontrol` tells those of QOS."""
        return Commands(self._params, self._token).time_usage()

    def accounting(self, since: int, until: int | None = None) -> list[Mapping[str, Any]]:
        """Return slurmdbd's objects of the jobs of a time.

        Parameters
        ----------
        since
            Begin in seconds since 1970; jobs that ended before it are left out.
        until
            End in seconds since 1970; jobs that were submitted after it are left out. None: now.

        Raises
        ------
        UnavailableError
            If there is no answer, or one without jobs: Slurm may have no accounting.
        """
        # v0.0.38 reads times as sacct does, where a number needs this prefix.
        prefix = "uts" if self._spoken() == OLDEST else ""
        query = f"jobs?start_time={prefix}{since}"
        if until is not None:
            query += f"&end_time={prefix}{until}"
        return self._of_database(query, "jobs")

    def _checked(self, what: str) -> list[Mapping[str, Any]]:
        found = self._of_database(what, what)
        _check_numbers(what, found)
        return found

    def _of_database(self, query: str, what: str) -> list[Mapping[str, Any]]:
        status, content = self._call("GET", query, family="slurmdb")
        # v0.0.38 writes QOS in capitals here.
        found = content.get(what, content.get(what.upper()))
        if status != http.HTTPStatus.OK or not isinstance(found, list):
            raise UnavailableError(
                f"slurmrestd: slurmdb/{what}: {errors_in_words(content) or status}"
            )
        return found

    def place(self, key: str, nodes: str) -> None:
        """Bind a job to nodes, none if the text is empty, and let it start."""
        if self._takes(key):
            self._update(key, {**self._bound_to(nodes), "hold": False})
        else:
            self._by_command(lambda commands: commands.place(key, nodes))

    def hold(self, key: str) -> None:
        """Hold a job, bound to no node."""
        if self._takes(key):
            self._update(key, {**self._bound_to(""), "hold": True})
        else:
            self._by_command(lambda commands: commands.hold(key))

    def _takes(self, key: str) -> bool:
        """Return whether slurmrestd changes this job: from v0.0.41 on, it refuses single tasks."""
        return "_" not in key or self._spoken() == OLDEST

    def _by_command(self, change: Callable[[Commands], None]) -> None:
        """Make a change by `scontrol`, with the rights of the token."""
        self._known.clear()
        try:
            change(Commands(self._params, self._token))
        except InputError as error:
            # Other jobs can still be driven.
            told = "slurmrestd changes no single task of an array in this version of Slurm"
            raise RefusedError(f"{told}, and {error}") from error

    def _bound_to(self, nodes: str) -> dict[str, Any]:
        """Return the field of an update that binds a job to nodes."""
        return {"nodelist" if self._spoken() == OLDEST else "required_nodes": nodes}

    def _spoken(self) -> int:
        """Return the version to speak, which is settled at the first call."""
        if self._version is None:
            self._version = self._negotiated()
            warning = newer_warning(self._version)
            if warning is not None:
                _LOG.warning(warning)
        return self._version

    def _negotiated(self) -> int:
        for document in _DOCUMENTS:
            status, text = self._answer("GET", document)
            if status == http.HTTPStatus.OK:
                offered = set(_offered(text))
                version = best_version(offered)
                if version is None:
                    named = ", ".join(map(version_name, sorted(offered))) or "no version"
                    raise unknown_version(f"slurmrestd offers {named}")
                return version
        # Without such a document: the newest that answers.
        for number in (*reversed(NEWER), OLDEST):
            status, _ = self._answer("GET", f"/slurm/{version_name(number)}/ping")
            if status != http.HTTPStatus.NOT_FOUND:
                return number
        raise unknown_version("slurmrestd answers in no known version")

    def _list(self, what: str) -> list[Mapping[str, Any]]:
        began, known = time.time(), self._known.get(what)
        query = ""
        # v0.0.45 answers with an empty list where nothing has changed, and does not say so.
        recent = known is not None and began - known.asked < IN_FULL
        if known is not None and recent and self._spoken() == OLDEST:
            # A second earlier, as Slurm keeps whole seconds. It answers at once where nothing has
            # changed since; where its clock is another, the next full list makes up for it.
            query = f"?update_time={int(known.asked) - 1}"
        status, content = self._call("GET", f"{what}{query}")
        if status == http.HTTPStatus.NOT_MODIFIED and known is not None:
            return known.content
        if query and status != http.HTTPStatus.OK:  # of nodes without a change it knows no status
            status, content = self._call("GET", what)
        if status != http.HTTPStatus.OK:
            raise UnavailableError(f"slurmrestd: {what}: {errors_in_words(content) or status}")
        found = content.get(what)
        if not isinstance(found, list):
            raise UnavailableError(f"slurmrestd: {what}: the answer has no list of {what}")
        if what not in {"jobs", "nodes"}:
            _check_numbers(what, found)
        self._known[what] = _Known(began, found)
        return found

    def _update(self, key: str, change: Mapping[str, Any]) -> None:
        checked_key(key)
        # Of a task of an array it says that it failed though it has not; the next look tells.
        self._known.clear()
        status, content = self._call("POST", f"job/{key}", change)
        if status == http.HTTPStatus.OK:
            return
        numbers = {error.get("error_number") for error in error_list(content)}
        text = f"slurmrestd: {errors_in_words(content) or status}"
        if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR and not numbers - {None}:
            raise UnavailableError(text)
        raise RefusedError(text)

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        family: str = "slurm",
    ) -> tuple[int, dict[str, Any]]:
        """Return status and content of an answer, which is of a known version."""
        version = version_name(self._spoken())
        status, text = self._answer(method, f"/{family}/{version}/{path}", body)
        if status == http.HTTPStatus.NOT_MODIFIED:
            return status, {}
        if status == http.HTTPStatus.NOT_FOUND:
            raise unknown_version(f"slurmrestd does not offer /{family}/{version}")
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UnavailableError(f"slurmrestd: {status}: not JSON") from error
        if not isinstance(content, dict):
            raise UnavailableError(f"slurmrestd: {status}: not an object")
        check_version(content, "slurmrestd")
        return status, content

    def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> tuple[int, str]:
        """Return status and text of an answer; raises InputError for a token that is not taken."""
        connection = self._connection()
        headers = {
            "X-SLURM-USER-NAME": self._user,
            "X-SLURM-USER-TOKEN": self._token.reveal(),
            "Content-Type": "application/json",
        }
        try:
            data = None if body is None else json.dumps(body)
            with _deadline(connection, self._params.timeout):
                connection.request(method, path, data, headers)
                answer = connection.getresponse()
                text = _whole_text(answer)
        except (OSError, http.client.HTTPException) as error:
            why = error.strerror if isinstance(error, OSError) else None
            why = why or f"{type(error).__name__}: {error}"
            if isinstance(error, TimeoutError):
                why = f"no answer within {self._params.timeout} s"
            raise UnavailableError(
                f"slurmrestd: {method} {path.partition('?')[0]}: {why}; check that slurmrestd"
                f" listens at {self._params.rest}, and with `scontrol ping` that slurmctld runs"
            ) from error
        finally:
            connection.close()
        if answer.status in {http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN}:
            message = f"slurmrestd does not accept the token of {self._user}"
            raise InputError(Finding("bad-token", message))
        return answer.status, text

    def _connection(self) -> http.client.HTTPConnection:
        socket_path, address = self._params.socket, self._params.address
        if socket_path is not None:
            return _UnixConnection(socket_path, self._params.timeout)
        assert address is not None  # the parameters were checked
        return http.client.HTTPConnection(*address, timeout=self._params.timeout)


@contextmanager
def _deadline(connection: http.client.HTTPConnection, seconds: float) -> Iterator[None]:
    """Connect, and end the connection after a time, however busy it is."""
    began, over = time.monotonic(), threading.Event()
    connection.connect()
    used = connection.sock

    def end() -> None:
        over.set()
        with suppress(OSError):
            used.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, began + seconds - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException):
        if not over.is_set():
            raise
    finally:
        timer.cancel()
    if over.is_set():  # what was read until then may look like an answer
        raise TimeoutError


def _whole_text(answer: http.client.HTTPResponse) -> str:
    pieces, size = [], 0
    while piece := answer.read(2**20):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise OSError(errno.EFBIG, f"the answer is longer than {MOST_BYTES} bytes")
    return b"".join(pieces).decode(errors="replace")


def _check_numbers(what: str, content: object) -> None:
    """Raise UnavailableError for a number that is none; of jobs and nodes their readers tell it."""
    odd = odd_number(content, what)
    if odd is not None:
        raise UnavailableError(f"slurmrestd: {odd}")


def _offered(document: str) -> Iterator[int]:
    """Yield the versions that an OpenAPI document describes."""
    try:
        paths = json.loads(document)["paths"]
    except (ValueError, KeyError, TypeError) as error:
        raise UnavailableError("slurmrestd: its OpenAPI document is not understood") from error
    for path in paths:
        found = _OFFERED.fullmatch(path)
        if found:
            yield int(found[1])
