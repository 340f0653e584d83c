"""`hpcsched-slurm-history`: saves the jobs that slurmdbd knows, for the trace source."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from hpcsched import HpcschedError
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.rest import Rest

_DAY = 86_400


def main(arguments: Sequence[str] | None = None) -> int:
    """Write slurmdbd's answer, and return 0, or 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="hpcsched-slurm-history", description=__doc__)
    parser.add_argument(
        "--rest", required=True, help="unix:/path/to/socket or http://127.0.0.1:PORT"
    )
    parser.add_argument("--token-file", help="a file with a token, readable by its owner alone")
    parser.add_argument("--days", type=float, default=30, help="how far to go back; 30 by default")
    parser.add_argument("--timeout", type=int, default=600, help="seconds to wait; 600 by default")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    given = parser.parse_args(arguments)
    try:
        params = SlurmParams(rest=given.rest, token_file=given.token_file, timeout=given.timeout)
        answer = Rest(params).accounting(int(time.time() - given.days * _DAY))
        with given.out.open("x", encoding="utf-8") as file:
            json.dump(answer, file)
    except (HpcschedError, ValueError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
