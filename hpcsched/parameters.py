"""Building blocks of plugin parameters: a strict base model, and quantities with units."""

import ast
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from hpcsched.paths import expand_variables, given_path, unset_variables

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
AMOUNTS = {
    **{f"{prefix}B": 1000**power for power, prefix in enumerate(["", "k", "M", "G", "T", "P"])},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate(["K", "M", "G", "T", "P"], 1)},
}


LARGEST = 2**53
"""Largest duration (s) and amount: sums stay exact in 64 bits, and numbers exact in JSON."""


@dataclass(frozen=True, slots=True)
class NotReproducible:
    """Marker of a field or plugin that makes results depend on the machine.

    A field is marked in its annotation and counts when it is given; a plugin that always depends on
    the machine sets `not_reproducible` of its parameters.
    """

    why: str


class Params(BaseModel):
    """Base model of plugin parameters: frozen, strict, without unknown keys or infinite numbers.

    Defaults are validated too, so that a default can be written with units (`30min`). A field's
    description is the text below it, or that of `Field`.

    Examples
    --------
    >>> class WindowParams(Params):
    ...     length: PositiveDuration = "30min"
    >>> WindowParams().length
    1800
    """

    # Building a model's validator takes milliseconds: it is deferred, so that `--help` stays quick.
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_default=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    not_reproducible: ClassVar[NotReproducible | None] = None

    @model_validator(mode="before")
    @classmethod
    def _note_keys(cls, data: Any, info: ValidationInfo) -> Any:
        """Record a mapping's valid keys, so that a message about an unknown key can list them."""
        known = (info.context or {}).get("known_keys")
        if known is not None and isinstance(data, dict):
            # By identity: equal mappings may stand at several places with other keys allowed.
            known[id(data)] = tuple(cls.model_fields)
        return data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        made = handler(schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for name, text in field_descriptions(cls).items():
            key = cls.model_fields[name].alias or name
            if key in properties:
                properties[key].setdefault("description", text)
        return made


def field_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the descriptions of fields by name: as given, or the text below each in the source.

    Pydantic's own option for such texts reads the source whenever a class is made.
    """
    texts: dict[str, str] = {}
    for one in reversed(model.__mro__):
        texts |= _texts_below_fields(one.__module__).get(one.__name__, {})
    texts |= {k: one.description for k, one in model.model_fields.items() if one.description}
    return {name: texts[name] for name in model.model_fields if name in texts}


@cache
def _texts_below_fields(module: str) -> dict[str, dict[str, str]]:
    """Return the texts below the fields of the classes of a module, by class and field."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):  # it has no source, as one that was made from a text
        return {}
    return {
        made.name: {
            field.target.id: " ".join(below.value.value.split())
            for field, below in pairwise(made.body)
            if isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        }
        for made in ast.walk(tree)
        if isinstance(made, ast.ClassDef)
    }


@dataclass(frozen=True, slots=True)
class Selects:
    """Marker of a field that selects a plugin by name, with its parameters beside the name.

    While a scenario is read, the value becomes an instance of the plugin's parameters that also
    carries the name. Elsewhere, as in a plugin's own tests, the value stays as it is.
    """

    kind: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._choose)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {SELECTS_KEYWORD: self.kind}

    def _choose(self, value: Any, info: ValidationInfo) -> Any:
        choose = (info.context or {}).get("choose")
        return choose(self.kind, value, info.context) if choose else value


NONE = "none"
"""Word for no plugin, in fields that allow it."""


@dataclass(frozen=True, slots=True)
class OrElse:
    """Marker, after `Selects`, of a field that also accepts another value: `none`, or null."""

    other: str | None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            lambda value, choose: value if value == self.other else choose(value), handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        if self.other is None:
            return {"anyOf": [handler(schema), {"type": "null"}]}
        return {"anyOf": [{"const": self.other}, handler(schema)]}


SELECTS_KEYWORD = "x-selects"
"""Placeholder in a JSON Schema; a plugin registry replaces it by the choices of a kind."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """Marker of a field that names a file to read, or a folder of such files."""

    or_folder: bool = True


@dataclass(frozen=True, slots=True)
class ResourceType:
    """Marker of a text that has to name a resource type of the scenario's system."""

    beside: tuple[str, ...] = ()


def parse_duration(text: str) -> int:
    """Return a duration such as `90s`, `30min`, `1h30min` or `2d` in seconds.

    Examples
    --------
    >>> parse_duration("1h30min")
    5400
    """
    return _parse(text, SECONDS, "a duration such as 90s, 30min, 1h30min or 2d")


def parse_amount(text: str) -> int:
    """Return an amount such as `16GiB` or `500MB` in bytes.

    Examples
    --------
    >>> parse_amount("16GiB")
    17179869184
    """
    return _parse(text, AMOUNTS, "an amount such as 4, 512MB or 16GiB")


def _parse(text: str, units: Mapping[str, int], expected: str) -> int:
    # Longest unit first, as `m` would otherwise match the beginning of `min`.
    unit = "|".join(sorted(units, key=len, reverse=True))
    if not re.fullmatch(rf"(\d+\s*({unit})\s*)+", text.strip()):
        raise ValueError(f"expected {expected}, found {text!r}")
    return sum(int(n) * units[u] for n, u in re.findall(rf"(\d+)\s*({unit})", text))


def _resolve_path(text: str, info: ValidationInfo) -> str:
    """Expand `${VAR}` and make the path absolute; a path with an unset variable stays as it is."""
    context = info.context or {}
    expanded = expand_variables(text, context.get("environment", os.environ))
    # Left as it is: whether the file is needed is decided later, where a message can name the key.
    if unset_variables(expanded):
        return expanded
    return str(given_path(expanded, Path(context.get("folder", ".")).absolute()))


_DURATION_PATTERN = r"^\s*(\d+\s*(s|min|h|d|w)\s*)+$"
_AMOUNT_PATTERN = r"^\s*(\d+\s*([kMGTP]?B|[KMGTP]iB)\s*)+$"


@dataclass(frozen=True, slots=True)
class Quantity:
    """Marker of a number of at least `least` that may be written as a text with units."""

    parse: Callable[[str], float]
    pattern: str
    least: int

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        # Bounded, since sums of amounts and times are taken in 64 bits.
        number = handler.generate_schema(Annotated[source, Field(ge=self.least, le=LARGEST)])
        return core_schema.no_info_before_validator_function(
            lambda value: self.parse(value) if isinstance(value, str) else value, number
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number = {"type": handler(schema)["type"], "minimum": self.least}
        return {"anyOf": [number, {"type": "string", "pattern": self.pattern}]}


Duration = Annotated[int, Quantity(parse_duration, _DURATION_PATTERN, 0)]
"""Whole seconds: a number, or a text with units (`30min`)."""

PositiveDuration = Annotated[int, Quantity(parse_duration, _DURATION_PATTERN, 1)]
"""A duration of at least one second."""

Amount = Annotated[int, Quantity(parse_amount, _AMOUNT_PATTERN, 0)]
"""How much of a resource type: a number, or bytes with a unit (`16GiB`)."""

PositiveAmount = Annotated[int, Quantity(parse_amount, _AMOUNT_PATTERN, 1)]
"""An amount of at least 1."""

InputPath = Annotated[str, Field(min_length=1), AfterValidator(_resolve_path), InputFile()]
"""A file to read; `${VAR}` is filled in, relative paths start at the scenario's folder."""

OneInputFile = Annotated[
    str, Field(min_length=1), AfterValidator(_resolve_path), InputFile(or_folder=False)
]
"""A file to read, never a folder; paths are resolved as those of `InputPath` are."""

OutputPath = Annotated[str, Field(min_length=1), AfterValidator(_resolve_path)]
"""A file or folder to write; paths are resolved as those of `InputPath` are."""

Listed = Strict(False)
"""Annotation of a tuple field that accepts a YAML list."""


def _asks_for_something(amounts: dict[str, int]) -> dict[str, int]:
    if not any(amounts.values()):
        raise ValueError("expected an amount of at least one resource type, found none")
    return amounts


UnitAmounts = Annotated[dict[str, Amount], AfterValidator(_asks_for_something)]
"""Amounts by resource type, not all of them 0: a unit that requests nothing would fit anywhere."""
