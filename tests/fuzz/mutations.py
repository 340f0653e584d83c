"""Mutations of small logs of every format and of slurm.conf, read by the readers and by commands.

    python -m tests.fuzz.mutations 2000 7

tries 2,000 mutations of each format from the seed 7, and prints how they ended.
"""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import random
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hpcsched import cli
from tests.fuzz.readers import CORPUS, READERS, read, scenario

SLURM_CONF = "slurm-conf"
FORMATS = (*READERS, SLURM_CONF)

LONGEST = 60
"""Seconds after which a case hangs; each takes milliseconds on an idle machine."""

TOKENS = (
    *(b"-", b"-1", b"0", b"1", b"nan", b"inf", b"1e400", b"1.5", b"1_0", b"99999999999", b"x"),
    *(b"9007199254740993", b"9" * 400, b"\0", b"\r", b"\n", b"\r\n", b"\t", b" ", b'"', b"'"),
    *(b";", b"|", b",", b":", b"=", b"+=", b"[", b"]", b"[1-3]", b"{", b"}", b"\\", b"\\\n", b"#"),
    *(b"\xff", b"\xc3", "é".encode(), "\u2028".encode(), "\u0663".encode(), b"\xef\xbb\xbf"),
    *(b"Unknown", b"None", b"(null)", b"UNLIMITED", b"4K", b"null", b"1-00:00:00", b"Include "),
    *(b"2024-13-45T99:99:99", b"1969-12-31T23:59:59", b"9999-12-31T23:59:59", b"DEFAULT", b"ALL"),
)
PACKERS: Sequence[Callable[[bytes], bytes]] = (gzip.compress, lzma.compress, bz2.compress)


class Ends(NamedTuple):
    """Numbers of cases by format and end: an exit code, or `read` where only a reader was asked."""

    counts: Counter[tuple[str, str]]

    def lines(self) -> Iterator[str]:
        """Yield a line for each format."""
        for format_ in FORMATS:
            told = {end: n for (of, end), n in sorted(self.counts.items()) if of == format_}
            ends = ", ".join(f"{n} {end}" for end, n in told.items())
            yield f"{format_}: {sum(told.values())} cases: {ends}"


def corpus(format_: str) -> list[bytes]:
    """Return the files from which the mutations of a format are made."""
    return [file.read_bytes() for file in sorted((CORPUS / format_).iterdir())]


def mutated(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    """Return data with one to six changes; some of it packed, and damaged again."""
    for _ in range(draw.choice([1, 1, 1, 2, 3, 6])):
        data = draw.choice(_CHANGES)(data, others, draw)
    if draw.random() < 0.05:
        data = draw.choice(PACKERS)(data)
        if draw.random() < 0.5:
            data = draw.choice(_CHANGES)(data, others, draw)
    return data[:65536]


def _place(data: bytes, draw: random.Random) -> tuple[int, int]:
    """Return the begin and the end of a part, mostly a short one."""
    begin = draw.randrange(len(data) + 1)
    return begin, min(len(data), begin + draw.choice([0, 1, 1, 2, 5, 20, 200]))


def _token(data: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    begin, end = _place(data, draw)
    return data[:begin] + draw.choice(TOKENS) + data[end:]


def _value(data: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    """Replace a number or a word by a token."""
    found = list(re.finditer(rb"[A-Za-z0-9._+-]+", data))
    if not found:
        return data
    match = draw.choice(found)
    return data[: match.start()] + draw.choice(TOKENS) + data[match.end() :]


def _bit(data: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    if not data:
        return data
    k = draw.randrange(len(data))
    return data[:k] + bytes([data[k] ^ (1 << draw.randrange(8))]) + data[k + 1 :]


def _cut(data: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    begin, end = _place(data, draw)
    return draw.choice([data[:begin], data[begin:], data[:begin] + data[end:]])


def _again(data: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    begin, end = _place(data, draw)
    return data[:end] + data[begin:end] * draw.choice([1, 1, 2, 50]) + data[end:]


def _lines(data: bytes, _: Sequence[bytes], draw: random.Random) -> bytes:
    """Swap, leave out or repeat lines, or change their ends."""
    lines = data.split(b"\n")
    j, k = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        lines[j], lines[k] = lines[k], lines[j]
    elif kind == 1:
        del lines[j]
    elif kind == 2:
        lines.insert(k, lines[j])
    return draw.choice([b"\r", b"\r\n", b"\n\n"] if kind == 3 else [b"\n"]).join(lines)


def _spliced(data: bytes, others: Sequence[bytes], draw: random.Random) -> bytes:
    other = draw.choice(others)
    begin, _ = _place(data, draw)
    _, end = _place(other, draw)
    return data[:begin] + other[end:]


_CHANGES = (_token, _token, _value, _value, _value, _bit, _cut, _again, _lines, _spliced)


@contextlib.contextmanager
def no_hang(what: str) -> Iterator[None]:
    """Raise AssertionError if the body takes too long."""

    def stop(*_: object) -> None:
        raise AssertionError(f"no end after {LONGEST} s: {what}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def command(*arguments: str) -> tuple[int, str, str]:
    """Return the exit code of a command, its output and its errors; see `asked`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(arguments)
    told = out.getvalue(), err.getvalue()
    assert code in {0, 1, 2}, (code, told)
    assert "Traceback" not in told[1], told
    assert code == 0 or any(told), "an error without a message"
    return code, *told


LENIENT = {
    "malformed": "skip",
    "unsorted": "sort",
    "missing_requested_time": "run_time",
    "fractional_seconds": "outward",
}
MORE = {
    "pbs-accounting": {"duplicate": "keep"},
    "slurm-sacct": {"duplicate": "keep", "time_zone": "Europe/Paris"},
}
"""Policies with which most records of a mutated log are jobs."""


def _lenient(format_: str, path: Path) -> Path:
    return scenario(path.parent, format_, path, **LENIENT, **MORE.get(format_, {}))


def asked(format_: str, path: Path, draw: random.Random) -> str:
    """Ask commands for a file; return the exit code of the first.

    Raises
    ------
    AssertionError
        An exit code is none of 0, 1 and 2; an error has no message; a record is in no account; or
        a conversion is refused by its reader.
    """
    if format_ == SLURM_CONF:
        return f"exit {command('trace', 'system-from', str(path))[0]}"
    # By turns without a scenario, and with one, which reads formats that tell no machine.
    given = path if draw.random() < 0.3 else _lenient(format_, path)
    code, out, first = command("trace", "info", "--format", "json", str(given))
    for trace in json.loads(out) if code == 0 else ():
        account = trace["records"]
        left = account["read"] - account["submitted"] - sum(account["skipped"].values())
        assert left == 0, account
    if given != path:
        written = path.with_name(f"written.{draw.choice(('swf', 'parquet'))}")
        into = ("--out", str(written), "--force")
        converted, _, err = command("trace", "convert", str(given), *into)
        assert converted == code, (code, first, converted, err)
        if code == 0:
            source = {".swf": "swf", ".parquet": "table"}[written.suffix]
            again = scenario(path.parent, source, written, larger_than_system="error")
            found, out, err = command("trace", "info", "--format", "json", str(again))
            assert found == 0, err
            # Waits are kept for the conversion, and must not change which records are jobs.
            assert json.loads(out)[0]["records"]["submitted"] == account["submitted"], out
    return f"exit {code}"


def tried(format_: str, cases: int, seed: int, *, commands: int) -> Iterator[str]:
    """Try mutations of a format, and yield how each ended; raise AssertionError with its bytes.

    Parameters
    ----------
    format_
        Name of the format.
    cases
        Number of mutations.
    seed
        Seed of the first; each has a seed of its own.
    commands
        Every so many cases are given to commands as well.
    """
    seeds = corpus(format_)
    others = [one for each in FORMATS for one in corpus(each)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        for case in range(cases):
            draw = random.Random(f"{format_} {seed} {case}")
            data = mutated(draw.choice(seeds), others, draw)
            with no_hang(f"{format_} {seed} {case}"):
                try:
                    if format_ in READERS:
                        read(format_, data)
                    if format_ == SLURM_CONF or case % commands == 0:
                        path.write_bytes(data)
                        yield asked(format_, path, draw)
                    else:
                        yield "read"
                except Exception as error:
                    told = f"case {case} of {format_}, seed {seed}: {data[:2000]!r}"
                    raise AssertionError(f"{error!r}: {told}") from error


def all_tried(cases: int, seed: int, *, commands: int = 20) -> Ends:
    """Return the ends of mutations of all formats; see `tried`."""
    counts: Counter[tuple[str, str]] = Counter()
    for format_ in FORMATS:
        counts.update((format_, end) for end in tried(format_, cases, seed, commands=commands))
    return Ends(counts)


if __name__ == "__main__":
    sys.stdout.write("\n".join((*all_tried(int(sys.argv[1]), int(sys.argv[2])).lines(), "")))
