"""Replay random workloads for some seconds: `python -m tests.fuzz.fuzz_replays 60`.

Each is held against the naive reference. `make fuzz` does so on a core that checks addresses and
undefined behaviour. The seed that is printed, given as second argument, repeats a round.
"""

import random
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.properties.reference_cases import Case, cases, check, rules


def replay_some(number: int) -> None:
    """Replay a few workloads that are drawn from a seed."""

    @seed(number)
    @settings(
        max_examples=20,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(rules()))
    def replay(case: Case) -> None:
        check(case)

    replay()


def main() -> None:
    """Replay until the time is over, one round at least."""
    seconds, *given_seed = map(int, sys.argv[1:])
    end, rounds = time.monotonic() + seconds, 0
    while not rounds or (time.monotonic() < end and not given_seed):
        number = given_seed[0] if given_seed else random.getrandbits(32)
        sys.stderr.write(f"seed {number}\n")
        replay_some(number)
        rounds += 1
    sys.stderr.write(f"no difference in {rounds} rounds of 20 workloads\n")


if __name__ == "__main__":
    main()
