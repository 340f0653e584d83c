"""The worker that compiles for another process."""

import io
import sys
from types import SimpleNamespace

import pytest

from hpcsched.dispatching.core import code_worker
from hpcsched.dispatching.core.round_kernels import decide_by_node
from hpcsched.dispatching.core.stored_code import ObjectCode, unpacked


def test_the_code_of_the_named_function_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is found by its module and name, and its code can be read as a stored file."""
    asked = []

    def compiled_code(function: object, kinds: str) -> ObjectCode:
        asked.append((function, kinds))
        return ObjectCode(b"machine code", "symbol", [0, 8, 16])

    written = io.BytesIO()
    monkeypatch.setattr(code_worker, "object_code", compiled_code)
    monkeypatch.setattr(
        sys, "argv", ["worker", decide_by_node.__module__, "decide_by_node", "a:int"]
    )
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=written))
    code_worker.main()
    assert asked == [(decide_by_node, "a:int")]
    assert unpacked(written.getvalue(), decide_by_node.py_func) == ObjectCode(
        b"machine code", "symbol", [0, 8, 16]
    )
