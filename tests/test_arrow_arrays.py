"""Arrays that go to Arrow and come back by their memory are those that pyarrow makes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hpcsched.arrow_arrays import (
    arrow_array,
    computed,
    null_structs,
    numpy_array,
    python_array,
)
from hpcsched.runs.columns import SOLVER

SMALL = Path(__file__).parents[1] / "scenarios" / "small-easy.yaml"


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float64, np.bool_])
@pytest.mark.parametrize("count", [0, 1, 9, 64])
def test_there_and_back(dtype: type, count: int) -> None:
    """Numbers and flags, also from within an array, and nulls."""
    values = (np.arange(count) * 7 % 5 % (2 if dtype is np.bool_ else 5)).astype(dtype)
    array = arrow_array(values)
    array.validate(full=True)
    assert array.equals(pa.array(values))
    assert array.null_count == 0
    back = numpy_array(array)
    assert back.dtype == dtype
    assert back.tolist() == values.tolist()
    assert numpy_array(array[3:7]).tolist() == values[3:7].tolist()
    missing = values == 1
    with_nulls = arrow_array(values, missing)
    assert with_nulls.equals(pa.array(values, mask=missing))


def test_every_second_value() -> None:
    """Memory with gaps is copied."""
    values = np.arange(20)[::2]
    assert arrow_array(values).to_pylist() == values.tolist()


def test_nulls_come_back_as_pyarrow_has_them() -> None:
    """As numbers that are not."""
    assert np.isnan(numpy_array(pa.array([1, None]))).tolist() == [False, True]


def test_texts() -> None:
    """Of any length, and in any script."""
    for texts in ([], [""], ["completed", "", "žádost"]):
        array = python_array(texts, pa.string())
        array.validate(full=True)
        assert array.equals(pa.array(texts, pa.string()))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 3], pa.int64()),
        ([0.5, None], pa.float64()),
        ([True, None, False], pa.bool_()),
        (["a", None, ""], pa.string()),
        ([(1, 2), None, [], [3]], pa.list_(pa.int32())),
        ([["a"], None, [None, "b"]], pa.list_(pa.string())),
        ([], pa.list_(pa.int64())),
    ],
)
def test_values_of_python(values: list[Any], kind: pa.DataType) -> None:
    """Any may be missing."""
    array = python_array(values, kind)
    array.validate(full=True)
    assert array.equals(pa.array(values, kind))
    assert array.type == kind


def test_functions_of_arrow() -> None:
    """They are those of `pyarrow.compute`."""
    assert computed("take", pa.array([5, 6, 7]), arrow_array(np.array([2, 0]))).to_pylist() == [
        7,
        5,
    ]


@pytest.mark.parametrize("count", [0, 3])
def test_structs(count: int) -> None:
    """All are null, and in their fields nothing is."""
    array = null_structs(SOLVER, count)
    array.validate(full=True)
    assert array.equals(pa.array([None] * count, SOLVER))
    assert [array.field(k).null_count for k in range(len(SOLVER))] == [0] * len(SOLVER)


@pytest.mark.parametrize("trace", ["trace.jobs=30", "trace={source: lublin99, jobs: 30}"])
def test_a_run_does_without_pandas(trace: str, tmp_path: Path) -> None:
    """Which takes longer to import than a log to replay; nor does it need scipy's algebra.

    The first source yields columns, the second records.
    """
    code = (
        "import sys; from hpcsched.simulation import event_loop; event_loop.FEW_JOBS = -1;"
        "from hpcsched.cli import main;"
        f"main(['run', {str(SMALL)!r}, '--set', {trace!r}, '--out', {str(tmp_path)!r}]);"
        "import json; assert json.load(open('manifest.json'))['in_python'] == [];"
        "raise SystemExit('pandas' in sys.modules or 'scipy.linalg' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
