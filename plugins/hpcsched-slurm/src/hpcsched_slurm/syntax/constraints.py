"""Constraints on the features of nodes: `a&b`, `(a|b)&c`, `rack*4`, `[rack1|rack2]`.

Source: the manual page `sbatch` of SchedMD, on `--constraint`.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

_TOKEN = re.compile(r"\s*([\w.:=+-]+(?:\*[0-9]{1,6})?|[&|()])")

_MOST_PARENTHESES = 50


class Constraint(NamedTuple):
    """Condition on the features of one node.

    Attributes
    ----------
    feature
        The feature that the node must have; empty if there are parts.
    any_part
        True: one part suffices. False: all parts must hold.
    """

    feature: str = ""
    parts: tuple["Constraint", ...] = ()
    any_part: bool = False

    def holds(self, features: Collection[str]) -> bool:
        """Return whether a node with some features satisfies the condition."""
        if not self.parts:
            return not self.feature or self.feature in features
        found = (part.holds(features) for part in self.parts)
        return any(found) if self.any_part else all(found)


def constraint_choices(text: str, nodes: int) -> tuple[Constraint, ...]:
    """Return the alternative conditions; one of them must hold for all nodes of a job.

    Parameters
    ----------
    text
        The constraint. Brackets around alternatives choose the same one for all nodes: `[a|b]`.

    Returns
    -------
    tuple of Constraint
        The choices in their order; one without brackets, or for a job of one node.

    Raises
    ------
    ValueError
        If the constraint is none, or wants different features of the nodes (`[a*1&b*2]`).

    Examples
    --------
    >>> [choice.feature for choice in constraint_choices("[rack1|rack2]", nodes=2)]
    ['rack1', 'rack2']
    """
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        return (parse_constraint(text, nodes),)
    found = _parsed(inner[1:-1], nodes, text)
    if found.parts and not found.any_part:
        raise _fault(text)
    return found.parts if found.parts and nodes > 1 else (found,)


def parse_constraint(text: str, nodes: int) -> Constraint:
    """Return the condition that each node of a job must satisfy by itself.

    Parameters
    ----------
    text
        The constraint without brackets; empty: any node.
    nodes
        Number of nodes of the job. A count (`rack*4`) is understood if it covers all of them.

    Raises
    ------
    ValueError
        If the constraint is none, or is no condition on single nodes.

    Examples
    --------
    >>> parse_constraint("(a|b)&c", nodes=2).holds({"b", "c"})
    True
    """
    return _parsed(text.strip(), nodes, text) if text.strip() else Constraint()


def _parsed(inner: str, nodes: int, text: str) -> Constraint:
    """Return the condition of a part of a constraint `text`."""
    # The parser calls itself for each of them.
    if inner.count("(") > _MOST_PARENTHESES:
        raise _fault(text)
    tokens = list(_tokens(inner, text))
    found = _expression(tokens, nodes, text)
    if tokens:
        raise _fault(text)
    return found


def _tokens(inner: str, text: str) -> Iterator[str]:
    """Yield names with their counts, operators and parentheses."""
    place = 0
    while place < len(inner):
        match = _TOKEN.match(inner, place)
        if match is None:
            raise _fault(text)
        place = match.end()
        yield match[1]


def _expression(tokens: list[str], nodes: int, text: str) -> Constraint:
    """Return the expression at the front of the tokens, and remove these."""
    parts = [_term(tokens, nodes, text)]
    operator = ""
    while tokens and tokens[0] in {"&", "|"}:
        # Without parentheses the manual does not say which of them binds more tightly.
        if operator and tokens[0] != operator:
            raise _fault(text)
        operator = tokens.pop(0)
        parts.append(_term(tokens, nodes, text))
    return parts[0] if len(parts) == 1 else Constraint("", tuple(parts), operator == "|")


def _term(tokens: list[str], nodes: int, text: str) -> Constraint:
    token = tokens.pop(0) if tokens else ""
    if token == "(":
        found = _expression(tokens, nodes, text)
        if not tokens or tokens.pop(0) != ")":
            raise _fault(text)
        return found
    name, _, count = token.partition("*")
    if not name or name in {"&", "|", ")"} or (count and int(count) < nodes):
        raise _fault(text)
    return Constraint(name)


def _fault(text: str) -> ValueError:
    return ValueError(f"expected a condition on each node such as a&b or (a|b)&c, found {text!r}")
