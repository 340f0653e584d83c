"""`hpcsched-slurm-history`: saves the jobs that slurmdbd knows, for the trace source."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hpcsched import HpcschedError
from hpcsched_slurm.accounting_answer import DAYS, TIMEOUT, whole_answer
from hpcsched_slurm.history import SlurmHistoryParams


def main(arguments: Sequence[str] | None = None) -> int:
    """Write slurmdbd's answer, and return 0, or 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="hpcsched-slurm-history", description=__doc__)
    parser.add_argument(
        "--rest", required=True, help="unix:/path/to/socket or http://127.0.0.1:PORT"
    )
    parser.add_argument("--token-file", help="a file with a token, readable by its owner alone")
    parser.add_argument("--days", type=float, help=f"how far to go back; {DAYS} by default")
    parser.add_argument("--since", help="begin of the time, such as 2024-03-01")
    parser.add_argument("--until", help="end of the time; now by default")
    parser.add_argument("--timeout", type=int, help=f"seconds to wait; {TIMEOUT} by default")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    given = parser.parse_args(arguments)
    try:
        asked = {name: value for name, value in vars(given).items() if name != "out"}
        params = SlurmHistoryParams.model_validate(
            {name: value for name, value in asked.items() if value is not None}
        )
        answer = whole_answer(given.rest, params)
        with given.out.open("x", encoding="utf-8") as file:
            json.dump(answer, file)
    except (HpcschedError, ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
