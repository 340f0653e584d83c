"""Base of plugin parameters: a strict model, and quantities with units."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from hpcsched.paths import given_path

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
AMOUNTS = {
    **{f"{prefix}B": 1000**power for power, prefix in enumerate(["", "k", "M", "G", "T", "P"])},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate(["K", "M", "G", "T", "P"], 1)},
}


LARGEST = 2**53
"""The largest duration and amount: sums of them stay exact in 64 bits, and so they do in JSON."""


@dataclass(frozen=True, slots=True)
class NotReproducible:
    """Mark of a parameter that makes results depend on the machine, with the reason.

    A review warns, and the manifest states it. A field is marked in its annotation, for when it is
    given; a plugin that always does, in `not_reproducible` of its parameters.
    """

    why: str


class Params(BaseModel):
    """Base of plugin parameters: frozen, strict; unknown keys and infinities are refused.

    Defaults are validated too, so that one can be written as a user would write it (`30min`).

    Examples
    --------
    >>> class EveryParams(Params):
    ...     period: Duration = 60
    >>> EveryParams.model_validate({"period": "2h"}).period
    7200
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_default=True,
        allow_inf_nan=False,
        defer_build=True,
    )

    not_reproducible: ClassVar[NotReproducible | None] = None

    former_keys: ClassVar[Mapping[str, str]] = {}
    """The present name of each key that older scenarios call otherwise; a review warns of those."""

    @model_validator(mode="before")
    @classmethod
    def _note_keys(cls, data: Any, info: ValidationInfo) -> Any:
        """Note the valid keys of a mapping, for the message about an unknown one."""
        known = (info.context or {}).get("known_keys")
        if known is not None and isinstance(data, dict):
            known[id(data)] = tuple(cls.model_fields)
        if isinstance(data, dict) and not cls.former_keys.keys().isdisjoint(data):
            present = {cls.former_keys.get(key, key): value for key, value in data.items()}
            if len(present) == len(data):  # else a key stands there by both names: one is unknown
                return present
        return data


@dataclass(frozen=True, slots=True)
class Selects:
    """Mark of a field that names a plugin of `kind`, with its parameters beside the name.

    While a scenario is read, the value becomes an instance of the plugin's parameters that also
    carries the name. Elsewhere, as in a plugin's own tests, it is left as it is.
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
"""The word for no plugin at all, where a field allows it."""


@dataclass(frozen=True, slots=True)
class OrNone:
    """Mark of a field, after `Selects`, that may also be the word `none`, which stays."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._keep, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"const": NONE}, handler(schema)]}

    @staticmethod
    def _keep(value: Any, choose: Callable[[Any], Any]) -> Any:
        return value if value == NONE else choose(value)


@dataclass(frozen=True, slots=True)
class OrNull:
    """Mark of a field, after `Selects`, that may also be null, which stays."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.nullable_schema(handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "null"}]}


SELECTS_KEYWORD = "x-selects"
"""Stands in a JSON Schema for the choices of a kind, until those of a registry are filled in."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """Mark of a field that names a file to be read."""


@dataclass(frozen=True, slots=True)
class ResourceType:
    """Mark of a text that names a resource type of the scenario's system, or a word `beside` them.

    A scenario that names one which no node group has is refused when it is read.
    """

    beside: tuple[str, ...] = ()


def parse_duration(text: str) -> int:
    """Return the seconds in a text such as `90s`, `30min`, `1h30min` or `2d`.

    Raises
    ------
    ValueError
        If the text is anything else.

    Examples
    --------
    >>> parse_duration("1h30min")
    5400
    """
    return _parse(text, SECONDS, "a duration such as 90s, 30min, 1h30min or 2d")


def parse_amount(text: str) -> int:
    """Return the bytes in a text such as `16GiB` or `500MB`.

    Raises
    ------
    ValueError
        If the text is anything else.

    Examples
    --------
    >>> parse_amount("1KiB"), parse_amount("1MB")
    (1024, 1000000)
    """
    return _parse(text, AMOUNTS, "an amount such as 4, 512MB or 16GiB")


def _parse(text: str, units: Mapping[str, int], expected: str) -> int:
    unit = "|".join(sorted(units, key=len, reverse=True))
    if not re.fullmatch(rf"(\d+\s*({unit})\s*)+", text.strip()):
        raise ValueError(f"expected {expected}, found {text!r}")
    return sum(int(n) * units[u] for n, u in re.findall(rf"(\d+)\s*({unit})", text))


def _read_duration(value: Any) -> Any:
    return parse_duration(value) if isinstance(value, str) else value


def _read_amount(value: Any) -> Any:
    return parse_amount(value) if isinstance(value, str) else value


def _resolve_path(text: str, info: ValidationInfo) -> str:
    """Expand `${VAR}` and make the path absolute; an unset variable stays as it is."""
    context = info.context or {}
    expanded = expand_variables(text, context.get("environment", os.environ))
    if unset_variables(expanded):
        return expanded
    return str(given_path(expanded, Path(context.get("folder", ".")).absolute()))


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expand_variables(text: str, environment: Mapping[str, str]) -> str:
    """Replace every `${VAR}` that the environment sets."""
    return _VARIABLE.sub(lambda match: environment.get(match[1]) or match[0], text)


def unset_variables(path: str) -> list[str]:
    """Return the names of the variables that are not set."""
    return _VARIABLE.findall(path)


_DURATION_PATTERN = r"^\s*(\d+\s*(s|min|h|d|w)\s*)+$"
_AMOUNT_PATTERN = r"^\s*(\d+\s*([kMGTP]?B|[KMGTP]iB)\s*)+$"


def _quantity(read: Callable[[Any], Any], pattern: str, least: int) -> Any:
    """Return the type of whole numbers from `least` on that may be written with units."""
    number = {"type": "integer", "minimum": least}
    return Annotated[
        int,
        Field(ge=least, le=LARGEST),
        BeforeValidator(read),
        WithJsonSchema({"anyOf": [number, {"type": "string", "pattern": pattern}]}),
    ]


if TYPE_CHECKING:
    Duration = int
    PositiveDuration = int
    Amount = int
    PositiveAmount = int
else:
    Duration = _quantity(_read_duration, _DURATION_PATTERN, 0)
    """Whole seconds: a number, or a text with units (`30min`)."""

    PositiveDuration = _quantity(_read_duration, _DURATION_PATTERN, 1)
    """A duration of at least one second."""

    Amount = _quantity(_read_amount, _AMOUNT_PATTERN, 0)
    """How much of a resource type: a number, or bytes with a unit (`16GiB`)."""

    PositiveAmount = _quantity(_read_amount, _AMOUNT_PATTERN, 1)
    """An amount of at least 1."""

InputPath = Annotated[str, Field(min_length=1), AfterValidator(_resolve_path), InputFile()]
"""A file to read; `${VAR}` is filled in, relative paths start at the scenario's folder."""

OutputPath = Annotated[str, Field(min_length=1), AfterValidator(_resolve_path)]
"""A file or folder to write; paths are resolved as those of `InputPath` are."""

Listed = Strict(False)
"""Put into an annotation of a tuple field, so that a YAML list is accepted for it."""
