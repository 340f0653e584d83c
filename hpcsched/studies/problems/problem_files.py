"""Files of dispatching problems: gzip JSON lines, a header, then a line for each problem."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hpcsched.dispatching.problem import DispatchingProblem, Objective
from hpcsched.errors import Finding, InputError, Place
from hpcsched.runs.assembly import assemble
from hpcsched.runs.manifest import sha256
from hpcsched.scenario import Scenario, resolved_yaml
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.loading import check_document
from hpcsched.scenario.system import SystemDeclaration
from hpcsched.studies.problems.problem_lines import Amount, Decoder, Encoder, as_line, in_words
from hpcsched.system.system import System
from hpcsched.version import __version__
from hpcsched.whole_files import cannot_write, replacing
from hpcsched.whole_files import problem as fault


class Selection(BaseModel):
    """Selection of the dispatching problems to save.

    Attributes
    ----------
    every
        Save the first matching problem and every n-th after it.
    min_queued, max_queued
        Bounds on the number of queued jobs of a matching problem; None for no bound.
    limit
        Largest number of problems; None for all.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    every: int = Field(default=1, ge=1)
    min_queued: int = Field(default=0, ge=0)
    max_queued: int | None = Field(default=None, ge=0)
    limit: int | None = Field(default=None, ge=1)


class Header(BaseModel):
    """First line of a file: the replay that its problems come from.

    Attributes
    ----------
    uniform_request
        Unit request of every job, where all are equal and counting units is exact; None otherwise.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    format: Literal["hpcsched-instances"]
    version: Literal[3]
    hpcsched: str
    scenario_name: str
    scenario: str
    system: SystemDeclaration
    uniform_request: tuple[Amount, ...] | None
    selection: Selection

    @model_validator(mode="after")
    def _check_request(self) -> Self:
        request, types = self.uniform_request, self.system.build().resource_types
        # Units count the resources of nodes alone, so a draw from a shared resource would not be
        # seen.
        if request is not None and (
            self.system.shared_resources or len(request) != len(types) or not any(request)
        ):
            raise ValueError(
                f"uniform_request: expected amounts of {', '.join(types)}, or null as for a system"
                f" with shared resources, found {list(request)}"
            )
        return self


def header_of(
    scenario: Scenario, uniform_request: tuple[int, ...] | None, selection: Selection
) -> Header:
    """Return the header for the problems of a replay of this scenario."""
    return Header(
        format="hpcsched-instances",
        version=3,
        hpcsched=__version__,
        scenario_name=scenario.name,
        scenario=resolved_yaml(scenario),
        system=scenario.system,
        uniform_request=uniform_request,
        selection=selection,
    )


class InstancesWriter:
    """Appends problems to a file; see `write_instances`."""

    def __init__(self, path: Path, packed: gzip.GzipFile, header: Header) -> None:
        self._path, self._packed = path, packed
        self._encoder = Encoder()
        self.written = 0
        packed.write(as_line(header.model_dump(mode="json")))

    def add(self, problem: DispatchingProblem) -> None:
        """Append a problem."""
        try:
            self._packed.write(self._encoder.encode(problem))
        except OSError as error:
            raise cannot_write(self._path, error) from error
        self.written += 1


@contextmanager
def write_instances(
    path: Path, header: Header, *, force: bool = False
) -> Iterator[InstancesWriter]:
    """Open a file for writing; it appears under its name when all problems are written.

    Equal problems give equal bytes.
    """
    with (
        replacing(path, force=force) as unfinished,
        unfinished.open("wb") as raw,
        # Neither name nor time in its header: the same problems give the same bytes.
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
    ):
        yield InstancesWriter(path, packed, header)


class InstancesFile:
    """A file of dispatching problems, opened for reading.

    Attributes
    ----------
    fraction_read
        Share of the file that has been read, from 0 to 1.
    """

    def __init__(self, path: Path | str) -> None:
        """Read the header."""
        self.path = Path(path)
        self.fraction_read = 0.0
        _, line = next(self._lines(), (1, b""))
        try:
            self.header = Header.model_validate_json(line)
        except ValidationError as error:
            raise self._damaged(1, f"in the header, {in_words(error)}") from None

    @cached_property
    def system(self) -> System:
        """System of the problems."""
        return self.header.system.build()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the file, in hexadecimal."""
        return sha256(self.path)

    @cached_property
    def scenario(self) -> Scenario:
        """Scenario of the recorded replay; its trace need not exist."""
        # Resolved paths are absolute, so the file that the text stands in does not matter.
        document = parse_document(self.header.scenario, str(self.path))
        try:
            return check_document(document, self.path).scenario
        except InputError as error:
            finding = error.findings[0]
            key = f"{finding.key}: " if finding.key else ""
            message = f"the scenario in the header cannot be used: {key}{finding.message}"
            raise self._damaged(1, message) from None

    def problems(
        self, objective: Objective | None = None, limit: int | None = None
    ) -> Iterator[DispatchingProblem]:
        """Yield the problems, one at a time.

        Parameters
        ----------
        objective
            Objective of the problems; that of the recorded scenario by default.
        limit
            Largest number of problems; None for all.
        """
        decoder = Decoder(
            self.system,
            self.header.uniform_request,
            assemble(self.scenario).objective if objective is None else objective,
        )
        # One more than wanted is not read: what is damaged behind it does no harm.
        for number, line in islice(self._lines(), 1, None if limit is None else limit + 1):
            try:
                yield decoder.decode(line)
            except ValueError as error:
                raise self._damaged(number, str(error)) from None

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their numbers, from 1."""
        number = 0
        try:
            with self.path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as packed:
                size = os.fstat(raw.fileno()).st_size
                for number, line in enumerate(packed, 1):
                    # By packed bytes, since the unpacked size stands only at the end of the file.
                    self.fraction_read = raw.tell() / max(size, 1)
                    yield number, line
        # A file that was cut off on its way here: all problems before that have been yielded.
        except EOFError:
            message = "expected the end of the gzip data, found the end of the file: it is cut off"
            raise self._damaged(number + 1, message) from None
        except (gzip.BadGzipFile, zlib.error):
            what = "data that can be unpacked" if number else "a gzip file"
            message = f"expected {what}, found other bytes"
            raise self._damaged(number + 1, message) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise fault("unreadable-file", self.path, f"it cannot be read: {reason}") from None

    def _damaged(self, number: int, message: str) -> InputError:
        return InputError(Finding("bad-instances", message, Place(str(self.path), number)))
