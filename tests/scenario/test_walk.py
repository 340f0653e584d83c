"""Traversal of validated blocks, on small models."""

from typing import Annotated

from pydantic import BaseModel

from hpcsched.scenario.key_path import blocks, marked, texts


class Mark:
    """A mark of a field."""


class Leaf(BaseModel):
    """A block within a block."""

    name: Annotated[str, Mark()] = "x"
    other: Annotated[int, "a note"] = 0
    deep: dict[str, tuple[Annotated[int, Mark()], ...]] | None = None


class Tree(BaseModel):
    """A block of blocks."""

    one: Leaf
    many: list[Leaf | int]
    named: dict[str, Leaf]


def test_blocks_from_the_outside_in() -> None:
    """Each with its path; what is no block is passed over."""
    tree = Tree(one=Leaf(), many=[7, Leaf()], named={"a": Leaf()})
    assert [path for path, _ in blocks(tree)] == [(), ("one",), ("many", 1), ("named", "a")]


def test_texts() -> None:
    """Numbers are none, and neither are keys."""
    value = {"a": ["x", 1, {"b": "y"}], "c": "z"}
    assert list(texts(value, ("top",))) == [
        (("top", "a", 0), "x"),
        (("top", "a", 2, "b"), "y"),
        (("top", "c"), "z"),
    ]


def test_marks() -> None:
    """Found beside the type or deep within it."""
    assert list(marked(Leaf, Mark)) == ["name", "deep"]
    assert isinstance(marked(Leaf, Mark)["deep"], Mark)
