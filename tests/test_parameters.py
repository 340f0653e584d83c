"""Parameters of plugins: quantities with units, paths, choices, and what is refused."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from hpcsched.parameters import (
    LARGEST,
    SELECTS_KEYWORD,
    Amount,
    Duration,
    InputPath,
    Listed,
    OrElse,
    Params,
    PositiveAmount,
    PositiveDuration,
    Selects,
    UnitAmounts,
    field_descriptions,
    parse_amount,
    parse_duration,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30min", 1800),
        ("1h30min", 5400),
        # Order and spaces do not matter; equal units add up.
        (" 30 min 1h 1h ", 9000),
        ("2d", 172_800),
        ("1w", 604_800),
        ("0s", 0),
    ],
)
def test_durations(text: str, seconds: int) -> None:
    """Numbers with units are added up, in seconds."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "amount"),
    [("500MB", 500_000_000), ("1kB", 1000), ("1KiB", 1024), ("16GiB", 2**34), ("1PiB", 2**50),
     ("1GiB 512MiB", 2**30 + 2**29), ("7B", 7)],
)  # fmt: skip
def test_amounts(text: str, amount: int) -> None:
    """Prefixes are of 1000, with an i of 1024."""
    assert parse_amount(text) == amount


@pytest.mark.parametrize("text", ["", "90", "1.5h", "-1h", "1H", "1h30", "m", "16 Gi", "1m"])
def test_what_is_neither(text: str) -> None:
    """The message has examples, and what was found."""
    with pytest.raises(ValueError, match=r"expected a duration such as 90s, .*, found '"):
        parse_duration(text)
    with pytest.raises(ValueError, match=r"expected an amount such as 4, .*, found '"):
        parse_amount(text)


class Quantities(Params):
    """One quantity of each kind."""

    duration: Duration = "1min"  # type: ignore[assignment]
    positive_duration: PositiveDuration = 1
    amount: Amount = 0
    positive_amount: PositiveAmount = 1


def refused(model: type[Params], **values: Any) -> str:
    """Return the kind of the only fault of values."""
    with pytest.raises(ValidationError) as caught:
        model(**values)
    (fault,) = caught.value.errors()
    return fault["type"]


def test_quantities_have_units_or_not() -> None:
    """A number is as good as a text; defaults are read in the same way."""
    read = Quantities.model_validate({"positive_duration": "2h", "amount": "1KiB"})
    assert (read.duration, read.positive_duration, read.amount) == (60, 7200, 1024)
    assert read.positive_amount == 1
    assert Quantities(duration=LARGEST).duration == LARGEST


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("duration", -1, "greater_than_equal"),
        ("positive_duration", 0, "greater_than_equal"),
        ("positive_duration", "0s", "greater_than_equal"),
        ("positive_amount", "0B", "greater_than_equal"),
        # Sums of larger numbers would leave 64 bits.
        ("amount", LARGEST + 1, "less_than_equal"),
        ("duration", "99999999999999w", "less_than_equal"),
        ("duration", 1.5, "int_type"),
        ("duration", True, "int_type"),
        ("amount", "much", "value_error"),
        ("length", 1, "extra_forbidden"),
    ],
)
def test_bad_quantities(key: str, value: object, fault: str) -> None:
    """Whole numbers within bounds, and no other key."""
    assert refused(Quantities, **{key: value}) == fault


def test_the_schema_of_a_quantity_accepts_what_is_read() -> None:
    """A number, or a text of the same form."""
    number, text = Quantities.model_json_schema()["properties"]["positive_duration"]["anyOf"]
    assert number == {"type": "integer", "minimum": 1}
    assert text["type"] == "string"


class Described(Params):
    """Parameters whose fields are described in each way."""

    depth: int = Field(3, alias="d")
    """Jobs that are
    looked at."""
    width: int = Field(3, description="Nodes.")
    height: int = 3


class DescribedAnew(Described):
    """Parameters with another default and another text."""

    depth: int = 4
    width: int = 4
    """Racks."""


def test_the_text_below_a_field_describes_it() -> None:
    """On one line, in the schema too; a class below has its own or that of the class above."""
    assert field_descriptions(Described) == {"depth": "Jobs that are looked at.", "width": "Nodes."}
    assert field_descriptions(DescribedAnew) == {
        "depth": "Jobs that are looked at.",
        "width": "Racks.",
    }
    properties = Described.model_json_schema()["properties"]
    described = {name: one.get("description") for name, one in properties.items()}
    assert described == {"d": "Jobs that are looked at.", "width": "Nodes.", "height": None}


class Various(Params):
    """A list, a number and amounts."""

    shares: Annotated[tuple[float, ...], Listed] = ()
    length: int = 1
    unit: UnitAmounts = Field(default={"core": 1})


def test_parameters_are_strict() -> None:
    """A text is no number, and a number must be finite; a list becomes a tuple."""
    assert Various(shares=[0.5, 1]).shares == (0.5, 1.0)  # type: ignore[arg-type]
    assert refused(Various, length="1") == "int_type"
    assert refused(Various, shares=[float("inf")]) == "finite_number"
    with pytest.raises(ValidationError, match="frozen"):
        Various().length = 2  # type: ignore[misc]


def test_a_unit_asks_for_something() -> None:
    """A unit of nothing would fit anywhere."""
    assert Various(unit={"core": 0, "mem": "1KiB"}).unit == {"core": 0, "mem": 1024}  # type: ignore[dict-item]
    for unit in ({}, {"core": 0}):
        assert refused(Various, unit=unit) == "value_error"


class Reading(Params):
    """A file."""

    path: InputPath


def test_paths_begin_at_the_scenario(tmp_path: Path) -> None:
    """Variables are filled in; a path with one that is not set stays as it is."""
    context = {
        "folder": str(tmp_path),
        "environment": {"HPCSCHED_LOGS": "/data", "HPCSCHED_EMPTY": ""},
    }

    def path_of(text: str) -> str:
        return Reading.model_validate({"path": text}, context=context).path

    assert path_of("kth.swf") == str(tmp_path / "kth.swf")
    assert path_of("${HPCSCHED_LOGS}/kth.swf") == "/data/kth.swf"
    unset = "${HPCSCHED_EMPTY}/${HPCSCHED_NONE}.swf"
    assert path_of(unset) == unset
    assert refused(Reading, path="") == "string_too_short"
    assert refused(Reading, path="a\0b") == "value_error"


class Choosing(Params):
    """Choices of plugins."""

    order: Annotated[Any, Selects("queue_order")]
    solver: Annotated[Any, Selects("solver"), OrElse("none")] = "none"
    guard: Annotated[Any, Selects("dispatcher"), OrElse(None)] = None


def test_choices_are_made_by_whoever_reads_a_scenario() -> None:
    """What reads the scenario turns each name into a choice; `none` and null are no plugins."""
    values = {"order": "fcfs", "solver": "ortools", "guard": {"name": "easy"}}

    def choose(kind: str, value: Any, _context: Any) -> tuple[str, Any]:
        return (kind, value)

    made = Choosing.model_validate(values, context={"choose": choose})
    assert made.order == ("queue_order", "fcfs")
    assert made.solver == ("solver", "ortools")
    assert made.guard == ("dispatcher", {"name": "easy"})
    nothing = Choosing.model_validate({"order": "fcfs"}, context={"choose": choose})
    assert (nothing.solver, nothing.guard) == ("none", None)
    # In a plugin's own tests the values stay as they are.
    assert Choosing.model_validate(values).guard == {"name": "easy"}


def test_the_schema_of_a_choice() -> None:
    """It names the kind; a registry puts the choices there."""
    properties = TypeAdapter(Choosing).json_schema()["properties"]
    assert properties["order"][SELECTS_KEYWORD] == "queue_order"
    none, solver = properties["solver"]["anyOf"]
    assert (none, solver) == ({"const": "none"}, {SELECTS_KEYWORD: "solver"})
    guard, null = properties["guard"]["anyOf"]
    assert (guard, null) == ({SELECTS_KEYWORD: "dispatcher"}, {"type": "null"})


def test_keys_that_are_allowed_are_noted() -> None:
    """A message about an unknown key can list those of its own mapping."""
    known: dict[int, tuple[str, ...]] = {}
    values = {"lenght": 1}
    with pytest.raises(ValidationError):
        Various.model_validate(values, context={"known_keys": known})
    assert known[id(values)] == ("shares", "length", "unit")
