"""Commands that save answers of slurmdbd: `hpcsched-slurm-history`, `hpcsched-slurm-accounts`."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hpcsched import HpcschedError
from hpcsched_slurm.accounting_answer import whole_answer
from hpcsched_slurm.params import DAYS, TIMEOUT, SlurmHistoryParams, SlurmParams
from hpcsched_slurm.rest import Rest


def save_history(arguments: Sequence[str] | None = None) -> int:
    """Save the jobs that slurmdbd knows, for the trace source; return 0, or 1 after an error."""
    parser = argparse.ArgumentParser(
        prog="hpcsched-slurm-history", description="Save the jobs that slurmdbd knows."
    )
    parser.add_argument("--days", type=float, help=f"how far to go back; {DAYS} by default")
    parser.add_argument("--since", help="begin of the time, such as 2024-03-01")
    parser.add_argument("--until", help="end of the time; now by default")

    def ask(given: dict[str, Any]) -> Mapping[str, Any]:
        return whole_answer(given["rest"], SlurmHistoryParams.model_validate(given))

    return _save_answer(parser, arguments, ask)


def save_accounts(arguments: Sequence[str] | None = None) -> int:
    """Save accounts, users and QOS, for `hpcsched trace accounts-from`; see `save_history`."""
    parser = argparse.ArgumentParser(
        prog="hpcsched-slurm-accounts", description="Save accounts, users and QOS of slurmdbd."
    )

    def ask(given: dict[str, Any]) -> Mapping[str, Any]:
        rest = Rest(SlurmParams.model_validate({"timeout": TIMEOUT, **given}))
        return {**rest.accounts(), "qos": rest.qos_list()}

    return _save_answer(parser, arguments, ask)


def _save_answer(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    ask: Callable[[dict[str, Any]], Mapping[str, Any]],
) -> int:
    """Write an answer into a file, and return 0, or 1 where that cannot be done."""
    parser.add_argument(
        "--rest", required=True, help="unix:/path/to/socket or http://127.0.0.1:PORT"
    )
    parser.add_argument("--token-file", help="a file with a token, readable by its owner alone")
    parser.add_argument("--timeout", type=int, help=f"seconds to wait; {TIMEOUT} by default")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    given = vars(parser.parse_args(arguments))
    out: Path = given.pop("out")
    try:
        answer = ask({name: value for name, value in given.items() if value is not None})
        with out.open("x", encoding="utf-8") as file:
            json.dump(answer, file)
    except (HpcschedError, ValueError, OSError) as error:
        sys.stderr.write(f"{error_line(error)}\n")
        return 1
    return 0


def error_line(error: Exception) -> str:
    """Return the error that ends a command, in one line that names the option or file."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        option = "".join(f"--{name}: " for name in first["loc"][:1]).replace("_", "-")
        message = first["msg"].removeprefix("Value error, ")
        found = "" if "found" in message else f", found {first['input']!r}"
        return f"error: {option}{message}{found}"
    if isinstance(error, FileExistsError):
        return f"error: {error.filename} is there already; choose another --out, or remove it"
    text = str(error)
    # Findings say it themselves, after their file.
    return text if "error: " in text else f"error: {text}"
