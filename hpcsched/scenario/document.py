"""YAML documents as plain values, with line and column of every key and value."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import read_file
from hpcsched.scenario.key_path import KeyPath

MOST_YAML = 8
"""Maximum size of a YAML file in MiB: far above any use, and read in bounded time and memory."""

_MOST_REPEATED = 10_000
"""Largest number of values repeated by aliases: beyond any use, and far below the memory."""


class Mark(NamedTuple):
    """A line and a column, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of the YAML itself, at a key path."""

    rule: str
    message: str
    key: KeyPath
    mark: Mark


@dataclass(slots=True)
class Document:
    """Content of a YAML text.

    Attributes
    ----------
    keys, values
        Line and column by key path.
    refused
        Key paths of values that could not be read, which are None.
    """

    value: Any = None
    keys: dict[KeyPath, Mark] = field(default_factory=dict)
    values: dict[KeyPath, Mark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    refused: set[KeyPath] = field(default_factory=set)


def read_text(path: Path, most: int = MOST_YAML) -> str:
    """Return the text of a file.

    Parameters
    ----------
    most
        Maximum size in MiB.

    Raises InputError if it cannot be read, is too large or is not UTF-8.
    """
    try:
        return read_file(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8 text: byte {error.start} cannot be decoded"
    except OSError as error:
        reason = error.strerror or str(error)
        message = f"the file cannot be read: {reason[:1].lower()}{reason[1:]}"
    raise InputError(Finding("unreadable-file", message, Place(str(path))))


def parse_document(text: str) -> Document:
    """Read a YAML text; if it is unreadable, `value` is None and a problem says why."""
    document = Document(values={(): Mark(1, 1)})
    try:
        loader = StrictLoader(text)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        mark = Mark(before.count("\n") + 1, error.position - before.rfind("\n"))
        _give_up(document, f"the character U+{error.character:04X} is not allowed", mark)
        return document
    try:
        # Nodes and not values: only nodes have the line and column that findings need.
        root = loader.get_node() if loader.check_node() else None
        if loader.check_node():
            message = "a second YAML document starts here; a file holds one scenario"
            second = _mark(loader.current_event.start_mark)
            document.problems.append(Problem("syntax", message, (), second))
        if root is not None:
            _Reading(document).read(root, ())
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        context = f" ({error.context})" if error.context and error.problem else ""
        # The one thing that editors do which YAML forbids.
        if "'\\t'" in str(error.problem):
            context = "; indent with spaces, not with tabs"
        message = f"not valid YAML: {error.problem or error.context}{context}"
        _give_up(document, message, _mark(place) if place else Mark(1, 1))
    except RecursionError:
        _give_up(document, "lists and mappings are nested too deeply", Mark(1, 1))
    except (ValueError, OverflowError):
        # PyYAML lets these through for an escape such as "\UFFFFFFFF" that names no character.
        _give_up(document, "not valid YAML: an escape names no character", _mark(loader.get_mark()))
    return document


def _give_up(document: Document, message: str, mark: Mark) -> None:
    document.value = None
    document.refused.add(())
    document.problems.append(Problem("syntax", message, (), mark))


def _mark(mark: Any) -> Mark:
    return Mark(mark.line + 1, mark.column + 1)


class _Reading:
    """Conversion of nodes into values, with a count of repetitions by aliases."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.seen: set[int] = set()
        self.open: set[int] = set()
        self.repeated = 0
        self.endless = False

    def read(self, root: yaml.Node, path: KeyPath) -> None:
        self.document.value = self._value(root, path)

    def _value(self, node: yaml.Node, path: KeyPath) -> Any:
        mark = _mark(node.start_mark)
        self.document.values[path] = mark
        again = id(node) in self.seen
        # PyYAML resolves an alias to the node itself. A few kilobytes of nested aliases can stand
        # for billions of values, so repeated visits are counted, and not the size of the text.
        self.repeated += again
        self.seen.add(id(node))
        if id(node) in self.open or (again and self.repeated > _MOST_REPEATED):
            if not self.endless:
                self._problem("syntax", "aliases repeat this value without end", path, mark)
            self.endless = True
            self.document.refused.add(path)
            return None
        self.open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode) and node.tag == MAP:
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode) and node.tag == SEQ:
                return [self._value(item, (*path, n)) for n, item in enumerate(node.value)]
            return scalar_value(node.tag, node.value if isinstance(node.value, str) else "")
        except ValueError as error:
            self._problem("bad-value", str(error), path, mark)
            self.document.refused.add(path)
            return None
        finally:
            # A node may occur twice side by side; only one within itself is without end.
            self.open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            mark = _mark(key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem("bad-value", "a list or mapping cannot be a key", path, mark)
                continue
            key = key_node.value
            here = (*path, key)
            if key == "<<" and key_node.style is None:
                message = "merge keys are not part of YAML 1.2; write the keys out"
                self._problem("merge-key", message, here, mark)
            elif key in mapping:
                first = self.document.keys[here].line
                message = f"the key {key!r} is given twice; first in line {first}"
                self._problem("duplicate-key", message, here, mark)
            else:
                self.document.keys[here] = mark
                mapping[key] = self._value(value_node, here)
        return mapping

    def _problem(self, rule: str, message: str, path: KeyPath, mark: Mark) -> None:
        self.document.problems.append(Problem(rule, message, path, mark))


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

    Raises ValueError if its tag is outside the core schema, its text does not fit the tag, or the
    meaning of a number depends on the version of YAML.
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
