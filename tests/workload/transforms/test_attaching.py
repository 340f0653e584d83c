"""The transform `attach`, by hand and by its distributions."""

from collections import Counter
from statistics import median
from typing import Any

import pytest
from pydantic import ValidationError

from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.transforms.job_transforms import AttachParams
from tests.builders import alike, traced
from tests.workload.transforms.chains import SYSTEM, Given, chain, read

ROOMY = alike(8, core=2, mem=10**9, gpu=8)
MANY = [traced(k, k, 1, 60, (1, 0, 0)) for k in range(1, 2001)]


def attached(
    jobs: list[TracedJob], system: System = SYSTEM, *, seed: int = 7, **params: Any
) -> tuple[list[tuple[int, ...]], dict[str, Counter[str]]]:
    """Return what units ask for, and what was counted."""
    source = chain(Given(jobs), ("attach", params), seed=seed, system=system)
    requests = [one.job.unit_request for one in read(source)]
    account = source.account
    counted = {what: getattr(account, what) for what in ("skipped", "clipped", "changed")}
    return requests, {what: counts for what, counts in counted.items() if counts}


def test_a_constant() -> None:
    """Four units of memory for each job unit; the job that asks for some keeps what it has."""
    jobs = [traced(1, 0, 3, 60, (1, 0, 0)), traced(2, 1, 1, 60, (1, 5, 0))]
    requests, counted = attached(jobs, resource="mem", amount=4)
    assert requests == [(1, 4, 0), (1, 5, 0)]
    assert counted == {"changed": {"mem_attached": 1}}


def test_per_core() -> None:
    """Three for each of two cores; a unit without cores gets nothing."""
    jobs = [traced(1, 0, 1, 60, (2, 0, 0)), traced(2, 1, 1, 60, (0, 0, 1))]
    requests, counted = attached(jobs, resource="mem", amount=3, per="core")
    assert requests == [(2, 6, 0), (0, 0, 1)]
    assert counted == {"changed": {"mem_attached": 1}}


def test_amounts_are_those_of_the_scenario() -> None:
    """A system that counts memory in GiB rounds what is asked for up."""
    gib = 2**30
    system = System((NodeGroup("node", 4, {"core": 8, "mem": 64 * gib}),), {"mem": gib})
    jobs = [traced(1, 0, 1, 60, (4, 0))]
    assert attached(jobs, system, resource="mem", amount="1536MiB")[0] == [(4, 2)]
    assert attached(jobs, system, resource="mem", amount="1536MiB", per="core")[0] == [(4, 6)]


def test_too_large_is_clipped() -> None:
    """On 8 nodes of 16: 20 is too much; 12 units, two on some nodes, can have 8 each, 8 have 16.

    With one core for each unit, 16 units are two on every node.
    """
    jobs = [traced(k, k, units, 60, (1, 0, 0)) for k, units in enumerate((1, 8, 12, 16), 1)]
    requests, counted = attached(jobs, resource="mem", amount=20)
    assert [request[1] for request in requests] == [16, 16, 8, 8]
    assert counted == {"changed": {"mem_attached": 4}, "clipped": {"mem_too_large": 4}}


def test_clipped_to_nothing() -> None:
    """Of 8 GPUs, 9 units can have none each; 8 units can have one of the three asked for."""
    jobs = [traced(1, 0, 9, 60, (1, 0, 0)), traced(2, 1, 8, 60, (1, 0, 0))]
    requests, counted = attached(jobs, resource="gpu", amount=3)
    assert requests == [(1, 0, 0), (1, 0, 1)]
    assert counted == {"changed": {"gpu_attached": 1}, "clipped": {"gpu_too_large": 2}}


def test_where_a_job_may_run_counts() -> None:
    """Only the second group has GPUs, and a job bound to the first gets none."""
    system = System(
        (NodeGroup("a", 1, {"core": 4, "gpu": 0}), NodeGroup("b", 1, {"gpu": 2, "core": 4}))
    )
    jobs = [
        traced(1, 0, 1, 60, (1, 0), node_groups=frozenset({"a"})),
        traced(2, 0, 1, 60, (1, 0), node_groups=frozenset({"b"})),
    ]
    assert attached(jobs, system, resource="gpu", amount=1)[0] == [(1, 0), (1, 1)]


def test_a_share_of_jobs() -> None:
    """Of 2000 jobs a tenth, within 3.5 standard deviations."""
    requests, counted = attached(MANY, ROOMY, resource="gpu", amount=1, share=0.1)
    assert abs(sum(request[2] for request in requests) - 200) < 47
    assert counted["changed"]["gpu_attached"] == sum(request[2] for request in requests)


def test_drawn_from_a_log_normal_distribution() -> None:
    """Half below the median; a standard deviation above it is e^spread times as much, for 84 %."""
    amount = {"median": 100_000, "spread": 1.0}
    requests, _ = attached(MANY, ROOMY, resource="mem", amount=amount)
    amounts = sorted(request[1] for request in requests)
    assert 90_000 < median(amounts) < 110_000
    assert 240_000 < amounts[int(0.8413 * len(amounts))] < 310_000


def test_a_draw_belongs_to_a_job_a_resource_type_and_the_seeds() -> None:
    """A job gets the same whatever comes before; another seed or type draws something else."""
    drawn: dict[str, Any] = {"resource": "mem", "amount": {"median": 10**5, "spread": 2.0}}
    requests, _ = attached(MANY, ROOMY, **drawn)
    assert attached(MANY[1500:], ROOMY, **drawn)[0] == requests[1500:]
    others = [
        attached(MANY, ROOMY, seed=8, **drawn)[0],
        attached(MANY, ROOMY, **{**drawn, "seed": 1})[0],
    ]
    assert all(other != requests for other in others)
    with_mem, _ = attached(MANY, ROOMY, resource="mem", amount=1, share=0.5)
    with_gpu, _ = attached(MANY, ROOMY, resource="gpu", amount=1, share=0.5)
    both = sum(mem[1] == gpu[2] == 1 for mem, gpu in zip(with_mem, with_gpu, strict=True))
    assert abs(both - 500) < 70


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        ({"median": 1}, "spread"),
        ({"median": 1, "spread": 0}, "greater than 0"),
        ("much", "expected an amount"),
        (0, "greater than or equal to 1"),
    ],
)
def test_what_is_refused(amount: object, message: str) -> None:
    """A distribution has a median and a spread."""
    with pytest.raises(ValidationError, match=message):
        AttachParams.model_validate({"resource": "mem", "amount": amount})
