"""Names in scenarios, and the characters that they may have."""

import pytest
from pydantic import TypeAdapter, ValidationError

from hpcsched.scenario.system import Name, ResourceType


@pytest.mark.parametrize("text", ["a", "9-b", "Node.7_x", "a" * 100])
def test_names(text: str) -> None:
    """Such a folder can be made on every system."""
    assert TypeAdapter(Name).validate_python(text) == text


@pytest.mark.parametrize("text", ["", "-a", ".a", "a b", "a/b", "ä", "a\n", "a" * 101])
def test_what_is_no_name(text: str) -> None:
    """The message says which characters there are, and how many at most."""
    with pytest.raises(ValidationError, match="expected a name of at most 100 letters, digits"):
        TypeAdapter(Name).validate_python(text)


def test_resource_types() -> None:
    """Lower case, as they are columns of results."""
    assert TypeAdapter(ResourceType).validate_python("gpu_v100") == "gpu_v100"
    for text in ("GPU", "1core", "a-b", ""):
        with pytest.raises(ValidationError, match="expected a resource type such as core, mem"):
            TypeAdapter(ResourceType).validate_python(text)
