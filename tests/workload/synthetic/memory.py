"""How much memory a made-up workload takes."""

import tracemalloc

from hpcsched.workload.synthetic.synthetic_source import SyntheticSource


def peak(source: SyntheticSource) -> int:
    """Return the most bytes in use while all jobs are made."""
    tracemalloc.start()
    try:
        for _ in source.jobs():
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
