"""Names in a scenario, and the characters that they may have."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST = 100


def _check_name(text: str) -> str:
    if not _NAME.fullmatch(text) or len(text) > _LONGEST:
        raise ValueError(
            f"expected a name of at most {_LONGEST} letters, digits, '.', '_' and '-' that starts"
            f" with a letter or digit, found {text!r}"
        )
    return text


def _check_resource_type(text: str) -> str:
    if not _RESOURCE_TYPE.fullmatch(text):
        raise ValueError(
            "expected a resource type such as core, mem or gpu: lower-case letters, digits and '_',"
            f" starting with a letter; found {text!r}"
        )
    return text


Name = Annotated[
    str,
    AfterValidator(_check_name),
    Field(json_schema_extra={"pattern": f"^{_NAME.pattern}$", "maxLength": _LONGEST}),
]
"""A name that can be a folder's on every system."""

ResourceType = Annotated[str, AfterValidator(_check_resource_type)]
"""The name of a resource type."""

RESOURCE_TYPE_PATTERN = f"^{_RESOURCE_TYPE.pattern}$"
"""The same for JSON Schema, which has patterns for the keys of a mapping."""
