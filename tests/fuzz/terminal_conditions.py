"""Every command, a log with hostile names, and the states of terminal and disk that it may meet."""

import os
import pty
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from hpcsched.studies.forecast.forecast_file import ForecastFile, WaitingJobForecast
from tests.workload.readers.accounting_log_files import HEADER, sacct_row

PAYLOADS = (
    "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;http://x\x1b\\", "\x9b31m", "\x9d0;owned\x9c",
    "\x08\x08", "\x7f", "\u202e", "\u2066", "\u200f", "\u2028", "\U000e0041", "<b>&",
)  # fmt: skip
"""CSI, OSC, C1, deletion, bidi, line separators, tags, and HTML."""

SCENARIO = """\
name: hostile
system:
  groups: [{name: cpu, count: 2, resources: {core: 16, mem: 64GiB}}]
trace: {source: slurm-sacct, path: log.txt, time_zone: UTC}
predictor: requested-time
dispatcher: easy
observers: [reasons]
outages:
  maintenance:
    - {start: 1709289000, duration: 3600, name: "m\\e[2J\\e]0;owned\\a\\x9b31m\\u202e"}
"""

RUN = "runs/hostile"
COMMANDS: Mapping[str, tuple[str, int]] = {
    "run": ("run s.yaml --set trace.jobs=5 --out out/run --force", 0),
    "try": ("try log.txt --dispatchers easy --save out/try", 0),
    "init scenario": ("init scenario site --out out/site.yaml --force", 0),
    "init log": ("init log log.txt --out out/init.yaml --force", 0),
    "init examples": ("init examples --out out/examples", 0),
    "init site": ("init site --sacct log.txt --conf accounts.txt --out out/site.yaml", 1),
    "validate": ("validate s.yaml bad.yaml --out out/findings", 1),
    "experiment": ("experiment experiment.yaml --out out/experiment", 0),
    "verify": (f"verify {RUN}", 0),
    "compare": (f"compare {RUN} --by user --by partition --by group --by queue", 0),
    "report": (f"report {RUN} --no-verify --out out/report.html --force", 0),
    "explain": (f"explain {RUN} 105", 0),
    "status": (f"status {RUN}", 0),
    "when": ("when 7 --forecast forecast.json", 0),
    "diff": ("diff s.yaml other.yaml", 0),
    "whatif": ("whatif s.yaml --vary vary.yaml --out out/whatif", 0),
    "tune": ("tune s.yaml --space space.yaml --out out/tune --trials 2", 0),
    "schema": ("schema --out out/schema.json", 0),
    "plugins list": ("plugins list", 0),
    "plugins show": ("plugins show trace-source slurm-sacct", 0),
    "init plugin": ("init plugin allocator odd --out out/new", 0),
    "forecast starts": ("forecast starts s.yaml --at 1709289000 --samples 2", 0),
    "forecast evaluate": ("forecast evaluate s.yaml --samples 2", 0),
    "live init": ("live init --partition cpu --out out/live.yaml", 1),
    "live advise": ("live advise s.yaml --out out/live", 1),
    "live drive": ("live drive s.yaml --out out/live", 1),
    "live replay": (f"live replay s.yaml {RUN} --out out/live", 1),
    "live forecast": ("live forecast s.yaml", 1),
    "slurm-conf": ("slurm-conf s.yaml", 1),
    "trace system-from": ("trace system-from log.txt", 1),
    "trace failures-from": ("trace failures-from log.txt --nodes node=n1", 1),
    "trace accounts-from": ("trace accounts-from accounts.txt s.yaml", 1),
    "trace fetch": ("trace fetch http://127.0.0.1:9/a.swf.gz --out out", 1),
    "trace presets": ("trace presets", 0),
    "trace info": ("trace info s.yaml --waits queue", 0),
    "trace convert": ("trace convert s.yaml --out out/converted.parquet --force", 0),
    "trace instances record": ("trace instances record s.yaml --out out/instances --force", 0),
    "trace instances solve": ("trace instances solve hostile.instances s.yaml --out out/solved", 0),
    "trace instances compare": (
        "trace instances compare solved/hostile.parquet solved/hostile.parquet",
        0,
    ),
    "predictors evaluate": ("predictors evaluate s.yaml", 0),
    "plot": (f"plot gantt {RUN} --out out/gantt.svg --force", 0),
}
"""Arguments of each command, and its exit code where nothing is wrong with the terminal."""


def write_inputs(folder: Path) -> None:
    """Write the log, the scenarios and the other files that the commands read."""
    rows = [
        sacct_row(
            str(100 + k),
            User=f"={text}u", Account=f"a{text}a", Partition=f"p{text}p", QOS=f"q{text}q",
            JobName=f"j{text}j", Submit=f"2024-03-01T10:{k:02}:00", AllocTRES="",
            Start=f"2024-03-01T11:{k:02}:00", End=f"2024-03-01T12:{k:02}:00",
        )
        for k, text in enumerate(PAYLOADS)
    ]  # fmt: skip
    texts = {
        "log.txt": "\n".join([HEADER, *rows, ""]),
        "s.yaml": SCENARIO,
        "other.yaml": SCENARIO.replace("dispatcher: easy", "dispatcher: list"),
        "bad.yaml": SCENARIO.replace("predictor:", '"pre\\e[2J\\u202ei":'),
        "experiment.yaml": "name: e\nscenario: s.yaml\nmatrix: [{dispatcher: [easy, list]}]\n",
        "vary.yaml": "variants: [{name: list, set: {dispatcher: list}}]\n",
        "space.yaml": "parameters: {dispatcher.order: {values: [fcfs, sjf]}}\n",
        "accounts.txt": "\x1b[2J\x9b31m\n",
        "forecast.json": hostile_forecast().model_dump_json(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def hostile_forecast() -> ForecastFile:
    """Return a forecast of tasks of one array, with hostile names."""
    jobs = [
        WaitingJobForecast(
            job=f"7_{text}", partition=f"p{text}", user=1, group=1, submit_time=0, units=1,
            requested_time=60, starts=(10, 20, 30),
        )
        for text in PAYLOADS
    ]  # fmt: skip
    return ForecastFile(
        cluster="c", time=5, running=0, samples=9, quantiles=(0.1, 0.5, 0.9), jobs=tuple(jobs)
    )


class Ended(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Streams = Mapping[int, int | None]
"""Descriptors that take the places of standard streams; None: the stream is closed."""


def carry_out(
    folder: Path,
    arguments: str,
    streams: Streams | None = None,
    *,
    file_size: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command in a process of its own.

    Parameters
    ----------
    folder
        The working directory.
    arguments
        Its arguments.
    streams
        Streams to replace; the others are a pipe that is read, and the null device as input.
    file_size
        Bytes that a file may have: beyond, writing fails as it does on a full disk.
    environment
        Variables to set.
    """
    given = streams or {}

    def prepare() -> None:
        for number, descriptor in given.items():
            if descriptor is None:
                os.close(number)
            else:
                os.dup2(descriptor, number)
        if file_size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    done = subprocess.run(
        [sys.executable, "-m", "hpcsched", *arguments.split()],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=300,
        env={**os.environ, **(environment or {})},
        preexec_fn=prepare,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def on_terminal(folder: Path, arguments: str, kind: str) -> Ended:
    """Run a command on a terminal of a kind, such as `xterm` or `dumb`; both streams are `out`."""
    ours, theirs = pty.openpty()
    pieces = []

    def read() -> None:
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # nobody holds the other end
                return
            if not piece:
                return
            pieces.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        ended = carry_out(folder, arguments, {1: theirs, 2: theirs}, environment={"TERM": kind})
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return Ended(ended.code, b"".join(pieces).decode(), "")


def with_broken_pipe(folder: Path, arguments: str) -> Ended:
    """Run a command whose standard output nobody reads any more."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return carry_out(folder, arguments, {1: writing})
    finally:
        os.close(writing)


def with_full_device(numbers: tuple[int, ...]) -> Callable[[Path, str], Ended]:
    """Return how a command is run with streams that take nothing."""

    def carried_out(folder: Path, arguments: str) -> Ended:
        with Path("/dev/full").open("wb") as full:
            return carry_out(folder, arguments, dict.fromkeys(numbers, full.fileno()))

    return carried_out


CLOSED: Mapping[str, tuple[int, ...]] = {
    "input closed": (0,),
    "output closed": (1,),
    "errors closed": (2,),
    "all closed": (0, 1, 2),
}
LOST_OUTPUT: Mapping[str, Callable[[Path, str], Ended]] = {
    "output full": with_full_device((1,)),
    "both full": with_full_device((1, 2)),
    "broken pipe": with_broken_pipe,
}
"""Conditions in which a command that prints on standard output ends with 1."""
CONDITIONS: Mapping[str, Callable[[Path, str], Ended]] = {
    **{
        name: lambda folder, arguments, numbers=numbers: carry_out(  # type: ignore[misc]
            folder, arguments, dict.fromkeys(numbers)
        )
        for name, numbers in CLOSED.items()
    },
    **LOST_OUTPUT,
    "errors full": with_full_device((2,)),
    "ASCII": lambda folder, arguments: carry_out(
        folder, arguments, environment={"PYTHONIOENCODING": "ascii"}
    ),
    "dumb terminal": lambda folder, arguments: on_terminal(folder, arguments, "dumb"),
    "unknown terminal": lambda folder, arguments: on_terminal(folder, arguments, ""),
    "terminal": lambda folder, arguments: on_terminal(folder, arguments, "xterm-256color"),
}
DISKS = (0, 512, 2048, 8192)
"""Sizes of files at which a disk counts as full."""


def controls(text: str) -> set[str]:
    """Return the characters of a text that a terminal obeys, or that change its direction."""
    return {one for one in text if not one.isprintable() and one not in "\n\t"}


def faults(ended: Ended) -> list[str]:
    """Return what is wrong in a command's output whatever the condition."""
    told = ended.out + ended.err
    found = [text for text in ("Traceback", "internal error", "Exception ignored") if text in told]
    if ended.code not in (0, 1, 2):
        found.append(f"exit code {ended.code}")
    return found
