"""A what-if study with the outcomes of its base and variants, best first."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hpcsched.errors import Finding, InputError
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.whatif.differences import COMPARED, Difference, difference, paired_jobs
from hpcsched.studies.whatif.outcomes import ReplayOutcome
from hpcsched.studies.whatif.reading import WhatIf
from hpcsched.studies.whatif.variant_replays import WhatIfFolder


@dataclass(frozen=True)
class Variant:
    """A variant with its outcome.

    Attributes
    ----------
    cell
        The variant.
    outcome
        Its jobs and figures.
    differences
        Difference from the base by quantity.
    """

    cell: Cell
    outcome: ReplayOutcome
    differences: dict[str, Difference]

    @property
    def name(self) -> str:
        """Name of the variant."""
        return self.cell.name

    @cached_property
    def changes(self) -> str:
        """Differences from the base, in words."""
        return ", ".join(f"{path}: {label}" for path, label in self.cell.labels.items())


@dataclass(frozen=True)
class WhatIfStudy:
    """A study with its outcomes.

    Attributes
    ----------
    whatif
        The study.
    base
        Outcome of the base scenario.
    variants
        Variants by ascending objective; those in which no job ran come last.
    failed
        Names of the variants without an outcome.
    """

    whatif: WhatIf
    base: ReplayOutcome
    variants: Sequence[Variant]
    failed: Sequence[str]

    @property
    def objective(self) -> str:
        """Name of the objective."""
        return self.whatif.base.scenario.objective.plugin_name


def read_study(whatif: WhatIf, folder: WhatIfFolder) -> WhatIfStudy:
    """Return the study with the outcomes in its folder.

    Raises
    ------
    InputError
        The base has no outcome.
    """
    base = folder.outcome(whatif.base)
    if base is None:
        message = f"the base scenario {whatif.scenario!r} has no outcome; nothing can be compared"
        raise InputError(Finding("no-base", message))
    variants, failed = [], []
    for cell in whatif.variants:
        outcome = folder.outcome(cell)
        if outcome is None:
            failed.append(cell.name)
            continue
        pairs = {quantity: paired_jobs(base, outcome, quantity) for quantity in COMPARED}
        found = {quantity: difference(one.base, one.variant) for quantity, one in pairs.items()}
        variants.append(Variant(cell, outcome, found))
    variants.sort(key=_rank)
    return WhatIfStudy(whatif, base, variants, failed)


def _rank(variant: Variant) -> tuple[bool, float]:
    value = variant.outcome.figures.objective
    return value is None, value or 0.0
