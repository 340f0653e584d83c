"""The dispatcher of a site, from its `slurm.conf` and back."""

from pathlib import Path

import pytest
import yaml

from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.site import part_of, read_site
from hpcsched_slurm.site.slurm_settings import dispatcher_block, scheduler_parameters
from hpcsched_slurm.site.writing import as_yaml

CONF = """\
SchedulerType=sched/backfill
SchedulerParameters=bf_continue,bf_interval=60,bf_window=2880,default_queue_depth=50,bf_window_linear=0
NodeName=c[1-4] CPUs=8 RealMemory=1000
PartitionName=main Nodes=ALL
"""


def test_of_a_site(tmp_path: Path) -> None:
    """Minutes become seconds, and what the dispatcher does not have is named."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    site = read_site(read_entries(path))
    text = as_yaml(site, path)
    assert yaml.safe_load(text)["dispatcher"] == {
        "name": "slurm-backfill",
        "bf_interval": 60,
        "bf_window": 2880 * 60,
        "default_queue_depth": 50,
    }
    assert "# SchedulerParameters without bf_continue, bf_window_linear=0\n" in text
    assert part_of(site, ["main"]).scheduler == site.scheduler


def test_a_site_without_parameters(tmp_path: Path) -> None:
    """Nothing is written that the file does not say."""
    path = tmp_path / "slurm.conf"
    path.write_text("NodeName=c[1-4] CPUs=8\n")
    assert "dispatcher" not in as_yaml(read_site(read_entries(path)), path)


@pytest.mark.parametrize("value", ["", "-1", "soon", "0", "²"])
def test_a_value_that_is_none(value: str) -> None:
    """It is named rather than written."""
    told = f"bf_interval={value}" if value else "bf_interval"
    block = dispatcher_block({"bf_interval": value, "bf_max_job_user": "0"}, {})
    assert block == (
        f"# SchedulerParameters without {told}\n"
        "dispatcher: {name: slurm-backfill, bf_max_job_user: 0}\n"
    )


def test_there_and_back() -> None:
    """What is written is read as the same parameters."""
    params = SlurmBackfillParams.model_validate(
        {"bf_window": "3d", "bf_max_job_user": 7, "default_queue_depth": 0, "bf_resolution": 300}
    )
    line = scheduler_parameters(params)
    assert "bf_window=4320" in line.split(",")
    block = yaml.safe_load(dispatcher_block(dict(one.split("=") for one in line.split(",")), {}))
    name = block["dispatcher"].pop("name")
    assert (name, SlurmBackfillParams.model_validate(block["dispatcher"])) == (
        "slurm-backfill",
        params,
    )
