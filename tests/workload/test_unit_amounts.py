"""What a scenario says that a unit asks for, of every source that takes it from there."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from hpcsched.parameters import Params
from hpcsched.workload.readers.batsim import BatsimParams
from hpcsched.workload.readers.swf import SwfParams
from hpcsched.workload.readers.table import TableParams
from hpcsched.workload.synthetic.lublin99 import Lublin99Params


@pytest.mark.parametrize("params", [SwfParams, BatsimParams, TableParams, Lublin99Params])
@pytest.mark.parametrize("unit", [{}, {"core": 0}, {"core": 0, "mem": "0GiB"}])
def test_a_unit_asks_for_something(
    params: type[Params], unit: dict[str, object], tmp_path: Path
) -> None:
    """Amounts that are all 0 are refused, also where they are written with units."""
    rest = {"jobs": 5} if params is Lublin99Params else {"path": str(tmp_path / "log")}
    with pytest.raises(ValidationError) as error:
        params.model_validate({**rest, "unit": unit})
    (found,) = error.value.errors()
    assert found["loc"] == ("unit",)
    assert "expected an amount of at least one resource type, found none" in found["msg"]
    given = params.model_validate({**rest, "unit": {**unit, "core": 2}})
    assert given.model_dump()["unit"]["core"] == 2
