"""Program of the tasks by which executors are checked: SCENARIO OUT.

The scenario is a number of seconds to sleep, or a message to fail with.
"""

import sys
import time
from pathlib import Path

TIMES = "times"
"""File in the run directory: the instants of begin and end, in seconds of the wall clock."""


def main() -> int:
    """Write the begin and the end of the run."""
    scenario, out = map(Path, sys.argv[1:3])
    began = time.time()
    text = scenario.read_text(encoding="utf-8").strip()
    try:
        seconds = float(text)
    except ValueError:
        sys.stderr.write(f"{text}\n")
        return 1
    time.sleep(seconds)
    out.mkdir()
    (out / TIMES).write_text(f"{began} {time.time()}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
