"""`hpcsched-slurm-release`: hands waiting jobs to Slurm's own scheduler if hpcsched has stopped.

It needs Python and Slurm's commands, and nothing of hpcsched: this file can be copied to where
daemons are kept and run by any Python 3.11. It looks at the file that the driver writes about once
a second; if that is older than it says, damaged, in the future or not there, every held job with
the driver's mark in the named partitions is released, and so are new ones, until there is a
heartbeat again. Jobs of others, and those that an operator has given another admin comment, are
left alone.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_KEY = re.compile(r"\d+(_\d+)?")
_TIMEOUT = 60
LONGEST = 24 * 60 * 60
"""The most seconds without a heartbeat that may be allowed for: a day, as in the scenario."""
_CLOCKS_DIFFER = 5
"""By how many seconds the clock of the driver may be ahead."""


class Waiting(NamedTuple):
    """Pending job: its number, whether it is held, and whether it is bound to nodes."""

    key: str
    held: bool
    bound: bool


def stopped(heartbeat: Path, now: float, after: float | None) -> str:
    """Return why the driver is taken to have stopped, in words; nothing if it is at work.

    `after` is the age in seconds from which that is so; what the heartbeat says if None. Whatever
    is not a heartbeat of the last `after` seconds beyond doubt counts as none.
    """
    try:
        content = json.loads(heartbeat.read_text(encoding="utf-8"))
        age = now - float(content["time"])
        limit = float(content["release_after"]) if after is None else after
    except OSError as error:
        return f"there is no heartbeat: {error.strerror}"
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        return f"the heartbeat is damaged: {type(error).__name__}: {error}"
    # Comparisons with NaN are false, so that each question has to be one that a good value answers.
    if not math.isfinite(age):
        return f"the heartbeat is damaged: its time is {content['time']}"
    if not 0 < limit <= LONGEST:
        return (
            "the heartbeat is damaged: expected a release_after above 0 and up to"
            f" {LONGEST} s, found {limit:g}"
        )
    if age < -_CLOCKS_DIFFER:
        return f"the last heartbeat is {-age:.0f} s in the future"
    return f"the last heartbeat is {age:.0f} s old" if age > limit else ""


def waiting_jobs(output: str, partitions: Sequence[str], mark: str) -> list[Waiting]:
    """Return the marked jobs of partitions in the output of `squeue --json`.

    Waiting tasks of an array are one job, called by the array's number. Raises ValueError or
    KeyError where it is not the JSON expected, or has errors.
    """
    found = []
    content = json.loads(output)
    # Without slurmctld, Slurm 22.05 prints an empty list beside the error, and exits with 0.
    if content.get("errors"):
        raise ValueError(f"squeue --json: {content['errors']}; check with `scontrol ping`")
    for job in content["jobs"]:
        # A text in Slurm 22.05, a list of states in later versions.
        states = [job["job_state"]] if isinstance(job["job_state"], str) else job["job_state"]
        if "PENDING" not in states or job["admin_comment"] != mark:
            continue
        if not set(str(job["partition"]).split(",")) & set(partitions):
            continue
        array, task = _number(job["array_job_id"]), _number(job["array_task_id"])
        key = f"{array}_{task}" if array and task is not None else str(array or job["job_id"])
        found.append(Waiting(key, not _number(job["priority"]), bool(job["required_nodes"])))
    return found


def _number(value: Any) -> Any:
    """Return a number as it is, or out of the object that versions after Slurm 22.05 put it in."""
    if not isinstance(value, dict):
        return value
    # An infinite priority is no hold.
    return math.inf if value["infinite"] else value["number"] if value["set"] else None


def release(partitions: Sequence[str], mark: str) -> int:
    """Release the marked jobs of partitions, bound to no node; return how many were.

    Raises OSError or subprocess.SubprocessError where Slurm's commands fail, ValueError or KeyError
    where what they print is not as expected.
    """
    listed = _run(["squeue", "--json"])
    listed.check_returncode()
    done = 0
    for job in waiting_jobs(listed.stdout, partitions, mark):
        if not _KEY.fullmatch(job.key):
            continue
        if job.bound:
            _run(["scontrol", "update", f"JobId={job.key}", "ReqNodeList="])
        if job.held:
            # One that is gone or has started since is no fault.
            done += _run(["scontrol", "release", job.key]).returncode == 0
    return done


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def look(heartbeat: Path | None, after: float | None, partitions: Sequence[str], mark: str) -> bool:
    """Look once, release jobs if the driver has stopped, and return whether no call failed.

    Without a heartbeat to look at, jobs are released in any case.
    """
    why = "it was asked for" if heartbeat is None else stopped(heartbeat, time.time(), after)
    if not why:
        return True
    try:
        count = release(partitions, mark)
    except (
        OSError,
        subprocess.SubprocessError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:
        sys.stderr.write(f"jobs could not be released: {type(error).__name__}: {error}\n")
        return False
    if count or heartbeat is None:
        sys.stdout.write(f"{count} jobs released to Slurm: {why}\n")
        sys.stdout.flush()
    return True


def _seconds(longest: float) -> Callable[[str], float]:
    """Return a parser of seconds above 0 and up to `longest`."""

    def read(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not 0 < seconds <= longest:
            raise argparse.ArgumentTypeError(
                f"expected seconds above 0 and up to {longest:g}, found {text!r}"
            )
        return seconds

    return read


def main(arguments: Sequence[str] | None = None) -> int:
    """Look once or again and again; return 0, or 1 where Slurm could not be asked."""
    parser = argparse.ArgumentParser(
        prog="hpcsched-slurm-release",
        description="Hand waiting jobs to Slurm's own scheduler if hpcsched has stopped.",
    )
    when = parser.add_mutually_exclusive_group(required=True)
    when.add_argument("--heartbeat", type=Path, help="the file that the driver writes")
    when.add_argument("--now", action="store_true", help="release them whatever the driver does")
    parser.add_argument(
        "--partition", action="append", required=True, help="a driven partition; can be repeated"
    )
    parser.add_argument(
        "--after",
        type=_seconds(LONGEST),
        help="seconds without a heartbeat; what the heartbeat says if left out",
    )
    parser.add_argument("--mark", default="hpcsched", help="the admin comment of held jobs")
    parser.add_argument(
        "--every", type=_seconds(LONGEST), help="look again after so many seconds, for ever"
    )
    given = parser.parse_args(arguments)
    while True:
        fine = look(given.heartbeat, given.after, given.partition, given.mark)
        if given.every is None:
            return 0 if fine else 1
        time.sleep(given.every)


if __name__ == "__main__":
    sys.exit(main())
