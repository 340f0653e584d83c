"""Writes the stored digests anew, those of the named scenarios or of all.

`python -m tests.reference_outputs [NAME…]` needs HPCSCHED_TRACES. It says what moved.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from tests.reference_outputs.digests import differences
from tests.reference_outputs.stored import DIGESTS, listed, store, stored_digests


def main(names: Sequence[str]) -> None:
    """Run the scenarios, and store their digests."""
    scenarios = listed()
    before = stored_digests() if DIGESTS.exists() else {}
    found = {one.name: before[one.name] for one in scenarios if one.name in before}
    if unknown := set(names) - {one.name for one in scenarios}:
        sys.exit(f"no such scenarios: {', '.join(sorted(unknown))}")
    for one in scenarios:
        if names and one.name not in names:
            continue
        begin = process_time()
        with TemporaryDirectory() as folder:
            found[one.name] = one.digests(Path(folder) / "run")
        print(f"{one.name}: {process_time() - begin:.2f} s")  # noqa: T201
        for difference in differences(before.get(one.name, {}), found[one.name]):
            if one.name in before:
                print(f"  {difference}")  # noqa: T201
    store({one.name: found[one.name] for one in scenarios if one.name in found})


if __name__ == "__main__":
    main(sys.argv[1:])
