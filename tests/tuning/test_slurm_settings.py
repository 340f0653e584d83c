"""Lines of `slurm.conf`."""

from pathlib import Path

import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.tuning.slurm_settings import slurm_lines
from tests.tuning.samples import SCENARIO

SITE = Path(SCENARIO).with_name("slurm-site.yaml")


def test_weights_and_times() -> None:
    """Those of the scenario, in Slurm's names and units."""
    scenario = hpcsched.load_scenario(
        SITE, ["dispatcher.order.favor_small=true", "dispatcher.order.max_age=8d1h"]
    )
    assert list(slurm_lines(scenario)) == [
        "PriorityType=priority/multifactor",
        "PriorityWeightAge=1000",
        "PriorityWeightJobSize=100",
        "PriorityWeightFairshare=10000",
        "PriorityWeightPartition=1000",
        "PriorityWeightQOS=2000",
        "PriorityMaxAge=8-01:00:00",
        "PriorityFavorSmall=YES",
        "PriorityDecayHalfLife=7-00:00:00",
    ]


def test_no_decay() -> None:
    """Slurm writes 0."""
    scenario = hpcsched.load_scenario(SITE, ["dispatcher.order.half_life=null"])
    assert "PriorityDecayHalfLife=0-00:00:00" in list(slurm_lines(scenario))


def test_another_order() -> None:
    """Slurm knows no others."""
    with pytest.raises(InputError, match="multifactor"):
        list(slurm_lines(hpcsched.load_scenario(SCENARIO)))
