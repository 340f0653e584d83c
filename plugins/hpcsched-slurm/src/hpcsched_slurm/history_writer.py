"""`hpcsched-slurm-history`: saves the jobs that slurmdbd knows, for the trace source."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hpcsched_slurm.accounting_answer import whole_answer
from hpcsched_slurm.answer_writer import save_answer
from hpcsched_slurm.params import DAYS, SlurmHistoryParams


def main(arguments: Sequence[str] | None = None) -> int:
    """Write slurmdbd's answer, and return 0, or 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="hpcsched-slurm-history", description=__doc__)
    parser.add_argument("--days", type=float, help=f"how far to go back; {DAYS} by default")
    parser.add_argument("--since", help="begin of the time, such as 2024-03-01")
    parser.add_argument("--until", help="end of the time; now by default")
    return save_answer(parser, arguments, _ask)


def _ask(given: dict[str, Any]) -> Mapping[str, Any]:
    return whole_answer(given["rest"], SlurmHistoryParams.model_validate(given))


if __name__ == "__main__":
    sys.exit(main())
