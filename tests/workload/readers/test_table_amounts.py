"""Amounts of rows, by hand: units of columns, missing values, and totals that units share."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import EqualUnits
from hpcsched.workload.readers.table import TableParams, TableSource
from tests.builders import alike

GIB = 2**30


def row(values: list[Any]) -> dict[str, Any]:
    """Return a row with the columns c and g."""
    return dict(zip("cg", values, strict=False))


def amounts(**params: Any) -> TableSource:
    """Return the source of a table with some columns."""
    names = "submit_time,run_time,requested_time,units,c,g,unit_request.core,unit_request.mem"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.csv"
        path.write_text(f"{names}\n")
        given = TableParams.model_validate({"path": str(path), **params})
        return TableSource(given, alike(1, core=99, gpu=9, mem=9))


@pytest.mark.parametrize(
    ("asked", "values", "expected"),
    [
        ({"column": "c"}, ["4.0"], 4),
        ({"column": "c", "per": 100}, ["650.0"], 7),
        ({"column": "c", "per": 100}, ["0"], 0),
        ({"column": "c", "unit": "1GiB"}, [29.296875], 30000 * 2**20),
        ({"column": "c", "unit": "1GiB", "per": 1024}, [3], 3 * 2**20),
        ({"column": "c", "times": "g"}, [1000, "8"], 8000),
        ({"column": "c", "times": "g", "per": 1000}, [460, 1], 1),
    ],
)
def test_units_of_columns(asked: dict[str, Any], values: list[Any], expected: int) -> None:
    """Value × unit / per, × another column, rounded up."""
    found = amounts(requests={"core": asked}, unit={"gpu": 1}).units_of(row(values), 3)
    assert found == EqualUnits(3, {"gpu": 1, "core": expected}, per_node=True)


def test_columns_to_read() -> None:
    """Columns with the glossary's names, if none is named."""
    values = {"c": 2, "g": 3, "unit_request.core": 4, "unit_request.mem": 5}
    requests = {"core": {"column": "c", "times": "g"}, "gpu": "g", "mem": None}
    assert amounts(requests=requests).units_of(values, 1).amounts == {"core": 6, "gpu": 3}
    assert amounts().units_of(values, 1).amounts == {"core": 4, "mem": 5}
    assert amounts(unit={"mem": 1}).units_of(values, 1).amounts == {"mem": 1, "core": 4}
    assert amounts(requests={}).units_of(values, 1).amounts == {"core": 1}


@pytest.mark.parametrize(
    ("values", "units", "expected"),
    [
        ([8, 4], 2, EqualUnits(2, {"mem": 5, "core": 4, "gpu": 2}, per_node=True)),
        ([6, 3], 2, EqualUnits(3, {"mem": 5, "core": 2, "gpu": 1}, uneven=True)),
        ([0, 3], 1, EqualUnits(1, {"mem": 5, "core": 0, "gpu": 3}, per_node=True)),
    ],
)
def test_amounts_of_a_job(values: list[int], units: int, expected: EqualUnits) -> None:
    """Equal shares of the stated units, or as many smaller parts as are equal."""
    given = {"requests": {"core": "c", "gpu": "g"}, "unit": {"mem": 5}, "amounts": "job"}
    assert amounts(**given).units_of(row(values), units) == expected


def test_policies_for_uneven_amounts() -> None:
    """Rounded up, or refused."""
    given = {"requests": {"core": "c"}, "amounts": "job"}
    up = amounts(**given, uneven_units="up").units_of({"c": 7}, 2)
    assert up == EqualUnits(2, {"core": 4}, uneven=True, per_node=True)
    with pytest.raises(UnusableError, match="7 core cannot be shared equally among 2") as caught:
        amounts(**given, uneven_units="skip").units_of({"c": 7}, 2)
    assert caught.value.reason == "uneven_units"


@pytest.mark.parametrize(
    ("value", "params", "reason", "message"),
    [
        ("", {}, "missing_request", "column 'c': no amount is given"),
        ("", {"missing_request": "zero"}, "malformed", "must ask for at least one"),
        ("4.5", {}, "malformed", "column 'c': expected a whole number"),
        (-3, {}, "malformed", "column 'c': expected 0 or more"),
        ("many", {}, "malformed", "column 'c': expected a number, found 'many'"),
    ],
)
def test_bad_amounts(value: Any, params: dict[str, Any], reason: str, message: str) -> None:
    """The reason names the policy, the message the column."""
    with pytest.raises((UnusableError, ValueError), match=message) as caught:
        amounts(requests={"core": "c"}, **params).units_of({"c": value}, 1)
    assert getattr(caught.value, "reason", "malformed") == reason
