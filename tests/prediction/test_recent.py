"""A memory of limited size."""

from copy import deepcopy

from hpcsched.prediction.predictors import Recent


def kept(memory: Recent[str, int], keys: str = "abcd") -> dict[str, int | None]:
    """Return the value of each key, without those that are not known."""
    found = {key: memory.get(key) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def filled(size: int, keys: str) -> Recent[str, int]:
    """Return a memory into which keys were put, with the values 1, 2 and so on."""
    memory = Recent[str, int](size)
    for value, key in enumerate(keys, 1):
        memory.put(key, value)
    return memory


def test_the_oldest_is_forgotten() -> None:
    """Of three keys in a memory of two, the first is gone."""
    memory = filled(2, "abc")
    assert kept(memory) == {"b": 2, "c": 3}
    assert len(memory) == 2


def test_a_key_that_is_put_again_is_the_newest() -> None:
    """Key a is put again after b, so that c takes the place of b."""
    memory = filled(2, "abac")
    assert kept(memory) == {"a": 3, "c": 4}


def test_reading_keeps_nothing_alive() -> None:
    """Key a is the oldest, however often it is asked for."""
    memory = filled(2, "ab")
    assert [memory.get("a") for _ in range(3)] == [1, 1, 1]
    memory.put("c", 3)
    assert kept(memory) == {"b": 2, "c": 3}


def test_taking_out_makes_room() -> None:
    """A key that was taken out is unknown, and another fits without a loss."""
    memory = filled(2, "ab")
    assert memory.pop("a") == 1
    assert (memory.pop("a", None), memory.get("a"), len(memory)) == (None, None, 1)
    memory.put("c", 3)
    assert kept(memory) == {"b": 2, "c": 3}


def test_a_value_that_counts_as_false_is_kept() -> None:
    """0 is a value like others, for instance a run time."""
    memory = Recent[str, int](1)
    memory.put("a", 0)
    assert memory.get("a") == 0
    assert memory.pop("a") == 0


def test_a_copy() -> None:
    """A deep copy has the size and the entries, and forgets by itself."""
    memory = filled(2, "ab")
    copied = deepcopy(memory)
    copied.put("c", 0)
    assert kept(copied) == {"b": 2, "c": 0}
    assert kept(memory) == {"a": 1, "b": 2}
