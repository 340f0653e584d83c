"""Names of resource types and shared resources in requests."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.system.shared_resources import Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.readers.log_source import check_draws, check_types

LOG = Path("log.swf")


def test_types() -> None:
    """Each must be there; the message names those that are, and the key."""
    system = System([NodeGroup("n", 1, {"core": 4, "mem": 8})])
    check_types(system, ["mem", "core"], LOG, "trace.unit")
    message = r"log.swf: error: trace.unit: a unit asks for gpu, which .* there are: core, mem; so"
    with pytest.raises(InputError, match=message):
        check_types(system, ["core", "gpu"], LOG, "trace.unit", "; so")


def test_shared_resources() -> None:
    """A trace may ask only for one from which jobs draw as the trace says."""
    shared = [SharedResource("licence", 3, Draw(traced=True)), SharedResource("power", 9, Draw())]
    system = System([NodeGroup("n", 1, {"core": 4})], shared_resources=tuple(shared))
    assert check_draws(system, ["core", "licence"], LOG, "trace.unit") == {"licence", "power"}
    with pytest.raises(InputError, match="asks for power, a shared resource from which jobs draw"):
        check_draws(system, ["power"], LOG, "trace.unit")
