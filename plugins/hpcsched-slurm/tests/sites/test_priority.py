"""The order of the queue, from the priorities in `slurm.conf` and in `scontrol show config`."""

from pathlib import Path

import pytest
import yaml

from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.site import read_site
from hpcsched_slurm.site.slurm_settings import PriorityOrder, priority_order
from hpcsched_slurm.site.writing import as_yaml
from sites.origins import without_origins

CONF = """\
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightFairShare=10000  # as scontrol spells it
PriorityWeightJobSize=200
PriorityWeightPartition=3000
PriorityWeightQOS=2000
PriorityWeightAssoc=5
PriorityWeightTRES=CPU=1000,Mem=2000,GRES/gpu=3000
PriorityDecayHalfLife=14-0
PriorityMaxAge=3-12
PriorityFavorSmall=YES
PriorityCalcPeriod=1
PriorityUsageResetPeriod=NONE
PriorityFlags=ACCRUE_ALWAYS,NO_FAIR_TREE,SMALL_RELATIVE_TO_TIME
SchedulerParameters=bf_window=2880
NodeName=c[1-4] CPUs=8 RealMemory=1000
PartitionName=main Nodes=ALL PriorityTier=2 TRESBillingWeights="CPU=1.0,Mem=0.25G"
"""
BLOCK = """\
partitions:
  - {name: main, jobs: {partition: [main]}, tier: 2}  # without\
 TRESBillingWeights=CPU=1.0,Mem=0.25G
# Priorities without PriorityFlags=SMALL_RELATIVE_TO_TIME, PriorityWeightAssoc=5,\
 PriorityWeightTRES=CPU=1000,Mem=2000,GRES/gpu=3000, PriorityCalcPeriod=1
dispatcher:
  name: slurm-backfill
  bf_window: 172800
  order:
    name: multifactor
    weights: {age: 1000, size: 200, fair_share: 10000, partition: 3000, qos: 2000}
    max_age: 84h
    half_life: 14d
    favor_small: true
    fair_share: classic
"""
SHOWN = """\
NodeName=c1 CPUAlloc=0 CPUEfctv=8 CPUTot=8
   RealMemory=1000 Partitions=main

PartitionName=main
   Nodes=c1 PriorityJobFactor=1 PriorityTier=1

Configuration data as of 2024-03-01T10:00:00
PriorityParameters      = (null)
PrioritySiteFactorPlugin = (null)
PriorityDecayHalfLife   = 00:00:00
PriorityCalcPeriod      = 00:05:00
PriorityFavorSmall      = No
PriorityFlags           = {nothing}
PriorityMaxAge          = 7-00:00:00
PriorityType            = priority/multifactor
PriorityWeightAge       = 1000
PriorityWeightAssoc     = 0
PriorityWeightFairShare = 10000
PriorityWeightTRES      = (null)
SchedulerParameters     = bf_interval=60,bf_continue
State                   = up
""".replace("{nothing}", "")


def written(folder: Path, text: str) -> str:
    """Return the blocks of a site."""
    path = folder / "site.txt"
    path.write_text(text)
    return without_origins(as_yaml(read_site(read_entries(path)), path))


def test_everything_is_written_or_named(tmp_path: Path) -> None:
    """Weights that are not stated are 0, as in Slurm; the rest is in a comment."""
    found = written(tmp_path, CONF)
    assert found.endswith(BLOCK)
    order = yaml.safe_load(found)["dispatcher"]["order"]
    del order["name"]
    params = MultifactorParams.model_validate(order)
    assert (params.half_life, params.max_age, params.favor_small) == (1_209_600, 302_400, True)


def test_the_settings_that_scontrol_shows(tmp_path: Path) -> None:
    """They follow the nodes and partitions; a half-life of 0 is none."""
    found = written(tmp_path, SHOWN)
    assert found.endswith(
        "  - {name: main, jobs: {partition: [main]}, priority: 1}\n"
        "# SchedulerParameters without bf_continue\n"
        "# Priorities without PriorityCalcPeriod=00:05:00\n"
        "dispatcher:\n  name: slurm-backfill\n  bf_interval: 60\n  order:\n"
        "    name: multifactor\n"
        "    weights: {age: 1000, size: 0, fair_share: 10000, partition: 0, qos: 0}\n"
        "    max_age: 7d\n    half_life: null\n    favor_small: false\n"
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, PriorityOrder(())),
        (
            {"prioritytype": "priority/basic", "priorityweightage": "5"},
            PriorityOrder(
                (), (), ("PriorityType=priority/basic: jobs are in order of submission",)
            ),
        ),
        (
            {"prioritytype": "priority/multifactor", "prioritymaxage": "0"},
            PriorityOrder(
                (
                    "name: multifactor",
                    "weights: {age: 0, size: 0, fair_share: 0, partition: 0, qos: 0}",
                ),
                ("PriorityMaxAge=0",),
            ),
        ),
    ],
)
def test_other_orders(settings: dict[str, str], expected: PriorityOrder) -> None:
    """Without the plugin there is no order; a value that is none is named."""
    assert priority_order(settings) == expected


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("PriorityWeightAge", "-1"),
        ("PriorityWeightQOS", "much"),
        ("PriorityDecayHalfLife", "soon"),
        ("PriorityFavorSmall", "maybe"),
    ],
)
def test_values_that_are_none(key: str, value: str) -> None:
    """They are named, and the default is taken; so is a type that is not stated."""
    found = priority_order({key.lower(): value})
    assert found.left_out == (f"{key}={value}",)
    assert found.lines[1:] == ("weights: {age: 0, size: 0, fair_share: 0, partition: 0, qos: 0}",)
    assert "PriorityType is not stated" in found.notes[0]


def test_a_variant_of_the_classic_formula() -> None:
    """Slurm does not use Fair Tree with it either; the variant itself is named."""
    found = priority_order(
        {"prioritytype": "priority/multifactor", "priorityflags": "DEPTH_OBLIVIOUS"}
    )
    assert found.lines[-1] == "fair_share: classic"
    assert found.left_out == ("PriorityFlags=DEPTH_OBLIVIOUS",)
