"""Trace sources `eurora-like` and `kit-like`: stand-ins for the logs of Eurora and KIT ForHLR II.

Users take up projects and submit them in campaigns: bursts of similar jobs with run times near one
level for long, and then at another. The numbers of jobs by class and run time are handed out
without replacement from tables fitted to published figures. All else is assumed;
`docs/workloads.md` has the list.

Sources: Galleguillos, *Job Dispatching in HPC Systems*, PhD thesis, 2020 ("thesis"), sections
2.1.4, 4.1, 4.2 and 5.3; Galleguillos, Sîrbu, Kiziltan, Babaoglu, Borghesi, Bridi, *Data-driven job
dispatching in HPC systems*, MOD 2017 ("MOD"), sections 2 and 5.1; the header of the log
KIT-FH2-2016-1 in the Parallel Workloads Archive ("header").
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hpcsched.registration import Context, builtin
from hpcsched.workload.synthetic.campaigns import (
    HOUR,
    MINUTE,
    Habits,
    Shape,
    Stratum,
    Terms,
    WindowParams,
    campaign_source,
    read_figures,
)
from hpcsched.workload.synthetic.synthetic_source import Draws, SyntheticSource

DEBUG, PARALLEL, LONGPAR = 1, 2, 3
LIMITS = {DEBUG: 30 * MINUTE, PARALLEL: 4 * HOUR, LONGPAR: 24 * HOUR}
"""Queues by number, and the default requested time of their jobs (assumed)."""
OWN_LIMITS = (10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 8 * HOUR, 12 * HOUR, 24 * HOUR)
"""Requested times of users who set them themselves (assumed)."""

# Assumed, and varied until the accuracy of requested times and of the prediction from a user's last
# jobs came out as published (thesis, sections 4.1.2 and 5.3): see docs/workloads.md.
NUMBERED = 0.6
"""Share of projects that name their jobs with a number at the end; others use one name."""
NEW_SERIES = 0.12
"""Probability that a campaign gets a name of its own."""
SCREENING = 0.24
"""Share of campaigns without two jobs of the same name, as when many inputs are screened."""


class Choices(NamedTuple):
    """Probabilities of free choices of campaigns.

    Attributes
    ----------
    in_longpar
        That other work goes to the queue of long jobs.
    """

    in_debug: float
    in_longpar: float
    own_limit: float


SERIES_CHOICES = Choices(0.1, 0.052, 0.08)
SCREENING_CHOICES = Choices(0.5, 0.02, 0.4)

SYLLABLES = tuple(a + b for a in "bdfgklmnprstv" for b in "ao")
WORDS = ("run", "job", "sim", "test", "case", "md", "mesh", "scan", "fit", "opt")
"""Parts of names."""


def _queue(draws: Draws, stratum: Stratum, choices: Choices) -> tuple[int, int]:
    """Draw the queue and the requested time of a campaign with run times of a stratum."""
    # A careful user requests the smallest sufficient round time.
    own = next((limit for limit in OWN_LIMITS if limit > stratum.high), OWN_LIMITS[-1])
    if stratum.limit is not None:
        return DEBUG if stratum.limit == LIMITS[DEBUG] else PARALLEL, stratum.limit
    sets_limit = draws.chance(choices.own_limit)
    if stratum.high > LIMITS[PARALLEL]:
        return LONGPAR, own if sets_limit else LIMITS[LONGPAR]
    if stratum.high <= LIMITS[DEBUG] and draws.chance(choices.in_debug):
        return DEBUG, LIMITS[DEBUG]
    if draws.chance(choices.in_longpar):
        return LONGPAR, LIMITS[LONGPAR]
    return PARALLEL, own if sets_limit and own < LIMITS[PARALLEL] else LIMITS[PARALLEL]


def _habits(_shape: Shape, draws: Draws) -> Habits:
    names = _Names(draws)

    def terms(draws: Draws, stratum: Stratum) -> Terms:
        screens = draws.chance(SCREENING)
        choices = SCREENING_CHOICES if screens else SERIES_CHOICES
        chosen = partial(names.of_campaign, draws, screens=screens)
        return Terms(*_queue(draws, stratum, choices), chosen)

    return terms


class _Names:
    """Names of the jobs of a project."""

    def __init__(self, draws: Draws) -> None:
        self._numbers_jobs = draws.chance(NUMBERED)
        syllables = "".join(SYLLABLES[draws.below(len(SYLLABLES))] for _ in range(2))
        self._stem = self._series = syllables + WORDS[draws.below(len(WORDS))]
        self._words = self._runs = 0

    def of_campaign(self, draws: Draws, *, screens: bool) -> Callable[[], str]:
        """Return the function that names the jobs of a campaign."""
        if screens:
            return self._new_word
        if draws.chance(NEW_SERIES):
            self._series = self._new_word()
        return self._next_of_series

    def _next_of_series(self) -> str:
        """Return the name of the next job: the same as before, or with the next number."""
        if not self._numbers_jobs:
            return self._series
        self._runs += 1
        return f"{self._series}{self._runs}"

    def _new_word(self) -> str:
        """Return an unused name that does not end in a digit."""
        rest, letters = self._words, ""
        self._words += 1
        for _ in range(4):
            rest, letter = divmod(rest, 26)
            letters = chr(ord("a") + letter) + letters
        return self._stem + letters


@builtin(
    "trace_source",
    "eurora-like",
    WindowParams,
    summary="synthetic: stands in for the log of Eurora, with cores, memory, GPUs and MICs",
)
def make_eurora_like(params: WindowParams, context: Context) -> SyntheticSource:
    """Make the source."""
    return campaign_source(read_figures("eurora-like", _habits), params, context)


KIT_LIMITS = (
    *(count * MINUTE for count in (10, 30)),
    *(count * HOUR for count in (1, 2, 4, 6, 8, 12, 18, 24, 36, 48, 72)),
)
"""Requested times of users (assumed)."""

MOST_STEPS = 4
"""Maximum number of limits above the smallest sufficient one (assumed)."""


def _kit_habits(shape: Shape, draws: Draws) -> Habits:
    steps = draws.below(MOST_STEPS + 1)

    def terms(_draws: Draws, stratum: Stratum) -> Terms:
        limit = stratum.limit
        if limit is None:
            enough = next(k for k, longest in enumerate(KIT_LIMITS) if longest >= stratum.high)
            limit = KIT_LIMITS[min(enough + steps, len(KIT_LIMITS) - 1)]
        return Terms(shape.queue, limit, lambda: lambda: None)

    return terms


@builtin(
    "trace_source",
    "kit-like",
    WindowParams,
    summary="synthetic: stands in for the log of KIT's ForHLR II, most jobs on whole nodes",
)
def make_kit_like(params: WindowParams, context: Context) -> SyntheticSource:
    """Make the source."""
    return campaign_source(read_figures("kit-like", _kit_habits), params, context)
