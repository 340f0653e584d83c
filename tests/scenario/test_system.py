"""The block `system` by itself: what it builds, and what is refused."""

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter

from hpcsched.scenario.system import Includable, SystemDeclaration
from tests.scenario.samples import faults

THIN = {"name": "thin", "count": 3, "resources": {"core": 8, "mem": "20GiB"}}
FAT = {"name": "fat", "count": 1, "resources": {"core": 16, "mem": "100GiB", "gpu": 2}}


def test_a_system() -> None:
    """Nodes are numbered by group; amounts are counted in whole units, capacities rounded down.

    Of 20 and 100 GiB there are 2 and 12 units of 8 GiB.
    """
    declared = SystemDeclaration.model_validate(
        {
            "units": {"mem": "8GiB"},
            "groups": [THIN, FAT],
            "shared_resources": [
                {"name": "power", "capacity": 500, "draw": {"per": {"core": 10}}},
            ],
        }
    )
    system = declared.build()
    assert system.resource_types == ("core", "mem", "gpu")
    assert system.capacity.tolist() == [[8, 2, 0], [8, 2, 0], [8, 2, 0], [16, 12, 2]]
    assert system.totals == (40, 18, 2)
    assert [system.node_name(node) for node in (0, 2, 3)] == ["thin-0", "thin-2", "fat-0"]
    assert [(one.name, one.capacity) for one in system.shared_resources] == [("power", 500)]


def with_resources(group: dict[str, Any], **resources: Any) -> dict[str, Any]:
    """Return a group with other resources."""
    return {**group, "resources": resources}


@pytest.mark.parametrize(
    ("value", "rule", "key", "message"),
    [
        ({"groups": []}, "bad-value", "groups", "expected a list that is not empty"),
        (
            {"groups": [{**THIN, "count": 0}]},
            "bad-value",
            "groups[0].count",
            "expected a value of at least 1, found 0",
        ),
        (
            {"groups": [{**THIN, "count": 10_000_001}]},
            "bad-value",
            "groups[0].count",
            "expected a value of at most 10000000",
        ),
        (
            {"groups": [with_resources(THIN, core=0, mem=0)]},
            "bad-value",
            "groups[0].resources",
            "expected at least one resource type with more than 0, found none",
        ),
        (
            {"groups": [THIN, FAT, {**FAT, "name": "thin"}]},
            "duplicate-name",
            "groups[2].name",
            "two groups are called 'thin'",
        ),
        # 2^10 · 2^53 is one more than the largest whole number of 64 bits.
        (
            {"groups": [{"name": "n", "count": 2**10, "resources": {"mem": 2**53}}]},
            "bad-value",
            "groups",
            "all nodes together have more than 2^63 - 1 of mem",
        ),
        (
            {"groups": [THIN, FAT], "units": {"disk": 1}},
            "unknown-resource-type",
            "units.disk",
            "no node group has disk; there are: core, mem, gpu",
        ),
        (
            {"groups": [THIN, FAT], "units": {"mem": "32GiB"}},
            "bad-value",
            "units.mem",
            "a node of thin has less than one unit of mem",
        ),
        (
            {
                "groups": [THIN],
                "shared_resources": [{"name": "core", "capacity": 1, "draw": {"per_job": 1}}],
            },
            "duplicate-name",
            "shared_resources[0].name",
            "core is a resource type of the nodes",
        ),
    ],
)
def test_refusals(value: dict[str, Any], rule: str, key: str, message: str) -> None:
    """One fault gives one finding, at its key."""
    ((found_rule, found_key, found_message),) = faults(SystemDeclaration, value)
    assert (found_rule, found_key) == (rule, key)
    assert message in found_message


def test_totals_of_64_bits() -> None:
    """1023 nodes with 2^53 of memory have less than 2^63 together, and are a system."""
    group = {"name": "n", "count": 1023, "resources": {"mem": 2**53}}
    system = SystemDeclaration.model_validate({"groups": [group]}).build()
    assert system.totals == (1023 * 2**53,)


def test_a_group_without_a_resource_type_needs_no_unit_of_it() -> None:
    """The thin nodes have no gpu at all, which a unit of 2 does not change."""
    declared = SystemDeclaration.model_validate({"groups": [THIN, FAT], "units": {"gpu": 2}})
    assert declared.build().capacity[:, 2].tolist() == [0, 0, 0, 1]


def test_the_schema_of_a_system_that_may_be_named() -> None:
    """A name, or a declaration."""
    schema = TypeAdapter(Annotated[SystemDeclaration, Includable()]).json_schema()
    name, declared = schema["anyOf"]
    assert name["type"] == "string"
    assert declared == {"$ref": "#/$defs/SystemDeclaration"}
    assert schema["$defs"]["SystemDeclaration"]["required"] == ["groups"]
