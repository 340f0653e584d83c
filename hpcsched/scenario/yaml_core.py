"""YAML 1.2 with the plain values of its core schema alone."""

import re
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

STR = "tag:yaml.org,2002:str"
MAP = "tag:yaml.org,2002:map"
SEQ = "tag:yaml.org,2002:seq"
_NULL = "tag:yaml.org,2002:null"
_BOOL = "tag:yaml.org,2002:bool"
_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"

_PLAIN = {
    _NULL: re.compile(r"(?:null|Null|NULL|~|)\Z"),
    _BOOL: re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"),
    _INT: re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"),
    _FLOAT: re.compile(
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
}
_LONGEST_NUMBER = 400


class StrictLoader(Reader, Scanner, Parser, Composer, BaseResolver):
    """Composer of the nodes of a YAML text, with plain values as in YAML 1.2."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)


class StrictDumper(yaml.SafeDumper):
    """Writer of YAML that means the same in YAML 1.1 and 1.2."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: aliases would make a file harder to read."""
        return True


for _tag, _pattern in _PLAIN.items():
    StrictLoader.add_implicit_resolver(_tag, _pattern, None)
    # The dumper keeps the patterns of YAML 1.1 beside these and quotes what either would misread.
    StrictDumper.add_implicit_resolver(_tag, _pattern, None)


def scalar_value(tag: str, text: str) -> Any:
    """Return the value of a scalar node.

    Raises
    ------
    ValueError
        If its tag is outside the core schema, its text does not fit the tag, or the meaning of a
        number depends on the version of YAML.
    """
    if tag == STR:
        # An escape can make one; encoding it later, in a manifest or a report, would fail far from
        # here.
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError("the text contains half of a surrogate pair, which is no character")
        return text
    if tag not in _PLAIN:
        raise ValueError(f"the tag {_short(tag)} is not used in scenarios; write a plain value")
    if not _PLAIN[tag].match(text):
        raise ValueError(f"{text!r} is not a value of the tag {_short(tag)}")
    if tag == _NULL:
        return None
    if tag == _BOOL:
        return text.lower() == "true"
    # Python refuses to convert over 4,300 digits, with advice about the interpreter's settings.
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text)} digits is too long")
    return _integer(text) if tag == _INT else float(re.sub(r"\.(?=inf|nan)", "", text.lower()))


def _integer(text: str) -> int:
    if text.startswith(("0o", "0x")):
        return int(text, 0)
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits.startswith("0"):
        raise ValueError(
            f"{text} with a leading zero is octal in YAML 1.1 and decimal in YAML 1.2;"
            " leave the zero out, or quote it if it is a text"
        )
    return int(text)


def _short(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")
