"""The JSON Schema of experiments accepts what is accepted, and is kept current."""

from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from hpcsched.cli import main
from hpcsched.plugins.manager import build_registry
from hpcsched.scenario.document import parse_document
from hpcsched.studies.study_files import experiment_schema
from tests.studies.experiment_samples import EXPERIMENT
from tests.studies.test_experiment_reading import BAD

COMMITTED = Path(__file__).parents[2] / "schemas" / "experiment.schema.json"

KNOWN_TO_A_SCHEMA = (
    "no list",
    "empty list",
    "no axes",
    "unknown key",
    "unknown executor",
)


@pytest.fixture(scope="module")
def validator() -> Draft7Validator:
    """A validator of experiments."""
    schema = experiment_schema(build_registry(external=False))
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize(
    "more",
    ["", "replicas: 2\n", "executor: local\n", "executor: {name: dask, workers: 2}\n"],
)
def test_good_experiments_fit(validator: Draft7Validator, more: str) -> None:
    """What can be read fits the schema."""
    assert list(validator.iter_errors(parse_document(EXPERIMENT + more).value)) == []


@pytest.mark.parametrize("name", KNOWN_TO_A_SCHEMA)
def test_bad_experiments_do_not_fit(validator: Draft7Validator, name: str) -> None:
    """What cannot be read does not fit, as far as a schema can tell."""
    old, new, _ = BAD[name]
    assert not validator.is_valid(parse_document(EXPERIMENT.replace(old, new)).value)


def test_the_committed_schema_is_current(tmp_path: Path) -> None:
    """The file in the repository is what the command writes; renewed by `make schema`."""
    path = tmp_path / "schema.json"
    assert main(["schema", "--of", "experiment", "--out", str(path)]) == 0
    assert path.read_bytes() == COMMITTED.read_bytes()


def test_every_key_is_described() -> None:
    """Every key says in a sentence what it is."""
    schema = experiment_schema(build_registry(external=False))
    for part in (schema, *schema["definitions"].values()):
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), key
