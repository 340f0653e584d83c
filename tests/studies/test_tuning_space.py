"""The JSON Schema of tuning files, and ranges."""

from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from hpcsched.cli import main
from hpcsched.plugins.manager import build_registry
from hpcsched.scenario.document import parse_document
from hpcsched.studies.study_files import SearchRange, tuning_schema
from tests.studies.tuning_samples import SPACE

COMMITTED = Path(__file__).parents[2] / "schemas" / "tuning.schema.json"


def test_the_schema_accepts_what_is_read() -> None:
    """And refuses a key that nothing knows."""
    schema = tuning_schema(build_registry(external=False))
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    value = parse_document(SPACE).value
    assert validator.is_valid(value)
    assert not validator.is_valid({**value, "trial": 3})


def test_the_committed_schema_is_current(tmp_path: Path) -> None:
    """The file in the repository is what the command writes; renewed by `make schema`."""
    path = tmp_path / "schema.json"
    assert main(["schema", "--of", "tuning", "--out", str(path)]) == 0
    assert path.read_bytes() == COMMITTED.read_bytes()


@pytest.mark.parametrize(("low", "high", "whole"), [(1, 9, True), (1.0, 9, False), (1, 9.5, False)])
def test_whole_numbers(low: float, high: float, whole: bool) -> None:
    """Both ends say whether only whole numbers are meant."""
    assert SearchRange(low=low, high=high).is_whole is whole
