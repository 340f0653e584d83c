"""The JSON Schema of variation files."""

from pathlib import Path

from jsonschema import Draft7Validator

from hpcsched.cli import main
from hpcsched.plugins.manager import build_registry
from hpcsched.scenario.document import parse_document
from hpcsched.studies.study_files import Variation, variation_schema
from tests.studies.whatif_samples import VARIATION

COMMITTED = Path(__file__).parents[2] / "schemas" / "whatif.schema.json"


def test_the_schema_accepts_what_is_read() -> None:
    """And refuses a key that nothing knows."""
    schema = variation_schema(build_registry(external=False))
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    value = parse_document(VARIATION).value
    Variation.model_validate(value)
    assert validator.is_valid(value)
    assert not validator.is_valid({**value, "variant": []})


def test_the_committed_schema_is_current(tmp_path: Path) -> None:
    """The file in the repository is what the command writes; renewed by `make schema`."""
    path = tmp_path / "schema.json"
    assert main(["schema", "--of", "whatif", "--out", str(path)]) == 0
    assert path.read_bytes() == COMMITTED.read_bytes()
