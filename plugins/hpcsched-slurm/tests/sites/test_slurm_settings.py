"""Lines of `slurm.conf`, and the command that prints them; starters."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import hpcsched
from hpcsched.cli import app
from hpcsched.errors import InputError
from hpcsched_slurm.site.slurm_settings import slurm_lines
from tests.studies.tuning_samples import SCENARIO

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


def test_backfilling() -> None:
    """Parameters of the dispatcher are a line of their own, with or without the order."""
    dispatcher = "dispatcher={name: slurm-backfill, bf_window: 2d, bf_interval: 60}"
    assert list(slurm_lines(hpcsched.load_scenario(SCENARIO, [dispatcher]))) == [
        "SchedulerType=sched/backfill",
        "# Add the other keys of your SchedulerParameters: this line takes their place.",
        "SchedulerParameters=default_queue_depth=100,bf_interval=60,bf_max_job_test=500,"
        "bf_max_job_user=0,bf_window=2880,bf_resolution=60",
    ]


def test_another_order() -> None:
    """Slurm knows no others."""
    with pytest.raises(InputError, match="multifactor"):
        list(slurm_lines(hpcsched.load_scenario(SCENARIO)))


def test_the_command() -> None:
    """It prints the lines of a scenario."""
    told = CliRunner().invoke(app, ["slurm-conf", str(SITE)])
    assert told.output.splitlines() == list(slurm_lines(hpcsched.load_scenario(SITE)))
