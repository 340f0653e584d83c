"""Data that observers provide to dispatchers."""

import pickle
from typing import Any

import pytest

from hpcsched.dispatching.additional import NO_DATA, AdditionalData, DataProvider


class Thermometer:
    """An observer that knows one temperature."""

    def additional_data(self, now: int) -> dict[str, object]:
        """Return the temperature, which rises by a degree a second."""
        return {"degrees": 20 + now}


def test_an_observer_with_the_method_provides_data() -> None:
    """No registration is needed."""
    assert isinstance(Thermometer(), DataProvider)
    assert not isinstance(object(), DataProvider)


def test_data_are_copied_and_cannot_be_changed() -> None:
    """What the observer changes afterwards is not seen, and a dispatcher cannot write."""
    given = Thermometer().additional_data(5)
    data: Any = AdditionalData({"thermometer": given})
    given["degrees"] = 99
    assert {name: dict(values) for name, values in data.items()} == {"thermometer": {"degrees": 25}}
    with pytest.raises(TypeError):
        data["thermometer"]["degrees"] = 0
    with pytest.raises(TypeError):
        data["other"] = {}


def test_data_can_be_sent_to_another_process() -> None:
    """They are equal after pickling."""
    data = AdditionalData({"a": {"x": 1}, "b": {}})
    again = pickle.loads(pickle.dumps(data))
    assert list(again) == ["a", "b"]
    assert again["a"] == {"x": 1}


def test_no_observer() -> None:
    """Of no observer nothing is known."""
    assert len(NO_DATA) == 0
    with pytest.raises(KeyError):
        NO_DATA["thermometer"]
