"""Whatever a file says, it is a scenario or a list of findings."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import Finding, InputError
from hpcsched.plugins.manager import stand_in
from hpcsched.scenario import load_scenario
from hpcsched.scenario.loading import read_and_check
from tests.fake_plugins import fake_registry
from tests.scenario.samples import GOOD, write
from tests.strategies import tries

KEYS = sorted(set(re.findall(r"\w+(?=:)", GOOD)))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*KEYS, "easy", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=10,
)
snippets = st.sampled_from(
    [*"{}[]:-,&*!|>'\"#%@`\t\n \x85\u2028é", "<<: ", "? ", "---\n", "*a", "&a "]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples."""
    return tmp_path_factory.mktemp("scenarios")


def load(path: Path, overrides: Sequence[str] = ()) -> None:
    """Load a scenario; findings are fine, if each is one line with a place."""
    registry = fake_registry()
    try:
        load_scenario(path, overrides, registry)
        wrong: Sequence[Finding] = ()
    except InputError as error:
        wrong = error.findings
        assert wrong
    assert all(f.place is not None and len(str(f).splitlines()) == 1 for f in wrong)
    # What `validate` reads, with all that is wrong taken out.
    with stand_in(registry):
        try:
            assert read_and_check(path, overrides, lambda _: ())[1] == list(wrong)
        except InputError as error:
            assert list(error.findings) == list(wrong)


def test_keys_within_a_value_that_is_replaced(tmp_path: Path) -> None:
    """All are told where a scenario without its errors has nothing of them."""
    text = GOOD.replace("order: fcfs", "order: {name: fcfs, a: 1, b: {c: 2}}").replace(
        "depth: 3", "depth: x"
    )
    with stand_in(fake_registry()):
        _, found = read_and_check(write(tmp_path, text), (), lambda _: ())
    keys = [finding.key for finding in found]
    assert keys == ["dispatcher.order.a", "dispatcher.order.b", "dispatcher.depth"]


@given(st.lists(st.tuples(st.integers(0, len(GOOD)), snippets), min_size=1, max_size=4))
@tries(100)
def test_spoilt_text(folder: Path, changes: list[tuple[int, str]]) -> None:
    """Signs of YAML put anywhere do not break the reader."""
    text = GOOD
    for position, snippet in changes:
        text = text[:position] + snippet + text[position:]
    load(write(folder, text))


@given(st.sampled_from(KEYS), values)
@tries(100)
def test_spoilt_values(folder: Path, key: str, value: Any) -> None:
    """Values of any type in any place do not break the models."""
    document = yaml.safe_load(GOOD)
    for block in (document, document["system"]["groups"][0], document["dispatcher"]):
        if key in block:
            block[key] = value
    load(write(folder, yaml.dump(document, allow_unicode=True)))


@given(st.text(max_size=20))
@tries(100)
def test_spoilt_overrides(folder: Path, text: str) -> None:
    """Any text as an override is an override or a finding."""
    load(write(folder), [text, f"dispatcher.{text}", f"system={text}"])
