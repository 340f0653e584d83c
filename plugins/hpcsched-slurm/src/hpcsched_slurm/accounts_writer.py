"""`hpcsched-slurm-accounts`: saves accounts, users and QOS, for `hpcsched trace accounts-from`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hpcsched_slurm.answer_writer import save_answer
from hpcsched_slurm.params import TIMEOUT, SlurmParams
from hpcsched_slurm.rest import Rest


def main(arguments: Sequence[str] | None = None) -> int:
    """Write slurmdbd's answer, and return 0, or 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="hpcsched-slurm-accounts", description=__doc__)
    return save_answer(parser, arguments, _ask)


def _ask(given: dict[str, Any]) -> Mapping[str, Any]:
    rest = Rest(SlurmParams.model_validate({"timeout": TIMEOUT, **given}))
    return {**rest.accounts(), "qos": rest.qos_list()}


if __name__ == "__main__":
    sys.exit(main())
