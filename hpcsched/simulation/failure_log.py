"""Logs of failures of nodes."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.paths import open_file
from hpcsched.system.outages import Outage, node_numbers
from hpcsched.system.system import System
from hpcsched.workload.readers.text_files import LONGEST

COLUMNS = ("node", "from", "until")


def read_failures(path: Path, system: System) -> Iterator[Outage]:
    """Yield the failures in a CSV file with the header `node,from,until`.

    A node is named as hpcsched names it (`cpu-3`); times are whole seconds since the origin of the
    trace. Empty lines and lines that begin with `#` are skipped.
    """
    numbers = node_numbers(system)
    try:
        with open_file(path) as raw, io.TextIOWrapper(raw, encoding="utf-8") as file:
            header = True
            # Bounded: a file without line ends would fill the memory, and is no CSV.
            for number, line in enumerate(iter(lambda: file.readline(LONGEST), ""), 1):
                if not line.strip() or line.startswith("#"):
                    continue
                fields = [field.strip() for field in next(csv.reader([line]))]
                if header:
                    _check_header(fields, path, number)
                    header = False
                else:
                    yield _failure(fields, numbers, path, number)
            if header:
                raise _problem(path, None, f"expected the header {','.join(COLUMNS)}, found none")
    except UnicodeDecodeError:
        raise _problem(path, None, "it is not UTF-8 text") from None
    except csv.Error as error:
        raise _problem(path, number, str(error)) from None
    except OSError as error:
        message = f"it cannot be read: {error.strerror or error}"
        raise _problem(path, None, message) from None


def _check_header(fields: list[str], path: Path, line: int) -> None:
    if tuple(fields) != COLUMNS:
        message = f"expected the header {','.join(COLUMNS)}, found {','.join(fields)}"
        raise _problem(path, line, message)


def _failure(fields: list[str], numbers: Mapping[str, int], path: Path, line: int) -> Outage:
    if len(fields) != len(COLUMNS):
        raise _problem(path, line, f"expected {len(COLUMNS)} fields, found {len(fields)}")
    node, *times = fields
    if node not in numbers:
        first, *_, last = *numbers, *numbers
        message = f"there is no node {node!r}; the first is {first}, the last {last}"
        raise _problem(path, line, message)
    for text in times:
        if not re.fullmatch(r"[0-9]{1,16}", text) or int(text) > LARGEST:
            message = f"expected whole seconds from 0 to {LARGEST}, found {text!r}"
            raise _problem(path, line, message)
    start, end = map(int, times)
    if end <= start:
        raise _problem(path, line, f"expected an end after {start}, found {end}")
    return Outage(start, end, (numbers[node],), "failure")


def _problem(path: Path, line: int | None, message: str) -> InputError:
    return InputError(Finding("bad-failure-log", message, Place(str(path), line)))
