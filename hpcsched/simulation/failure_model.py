"""Random failures of nodes: distributions of up times and repair times.

Times between failures follow a Weibull distribution, which is exponential for a shape of 1; repair
times are exponential. Failures of real systems are closer to a shape of 0.7 to 0.8: B. Schroeder
and G. A. Gibson, *A large-scale study of failures in high-performance computing systems*, IEEE
Transactions on Dependable and Secure Computing 7(4), 2010. Nodes fail independently of each other.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gamma
from pathlib import Path
from random import Random

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.paths import open_file
from hpcsched.portable_math import log, power
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


@dataclass(frozen=True, slots=True)
class FailureModel:
    """Failures of some nodes between two instants.

    Attributes
    ----------
    mean_up_time
        Mean seconds from the end of a repair to the next failure.
    mean_repair_time
        Mean seconds from a failure to the end of its repair.
    shape
        Shape of the Weibull distribution of up times.
    start, end
        First and last second of failures.
    """

    nodes: tuple[int, ...]
    mean_up_time: int
    mean_repair_time: int
    shape: float
    start: int
    end: int
    name: str = ""


def draw_failures(model: FailureModel, seed: int) -> Iterator[Outage]:
    """Yield the failures of each node, node by node; equal for a seed on every machine.

    Failures begin before `end`; a repair may end later. Each takes at least a second.
    """
    # In twelve digits, as the last one of a gamma function may differ between machines.
    scale = model.mean_up_time / float(f"{gamma(1 + 1 / model.shape):.12g}")
    for node in model.nodes:
        random = Random(f"{seed}/{node}")
        now = float(model.start)
        while True:
            now += scale * power(_exponential(random), 1 / model.shape)
            start = int(now)
            if start >= model.end:
                break
            now += model.mean_repair_time * _exponential(random)
            end = max(int(now), start + 1)
            yield Outage(start, end, (node,), "failure", model.name)
            now = float(max(end, int(now)))


def _exponential(random: Random) -> float:
    """Return an exponentially distributed number with mean 1; never 0."""
    return -log(1.0 - random.random()) or 2.0**-53
