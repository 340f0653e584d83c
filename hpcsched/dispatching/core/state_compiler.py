"""Compilation of functions of a state to object code that needs only the C library."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from llvmlite import binding
from numba.core import types
from numba.core.registry import cpu_target

from hpcsched.dispatching.core.compiled import Compiled
from hpcsched.dispatching.core.state_types import payload_offsets, state_type
from hpcsched.dispatching.core.stored_code import ObjectCode

_NUMBERS = {int: types.int64, float: types.float64}

# How arrays and records are made and let go of, as numba does, whose own functions are part of a
# library for Python. Before the data is what `machine_state` knows as the head. A function is only
# ever run by one thread on one state, so that references are counted as other numbers are.
_MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)

define linkonce_odr ptr @NRT_MemInfo_data_fast(ptr %head) alwaysinline {
  %at = getelementptr i64, ptr %head, i64 3
  %data = load ptr, ptr %at
  ret ptr %data
}

define linkonce_odr ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %aligned = zext i32 %alignment to i64
  %head_and_gap = add i64 %aligned, 48
  %total = add i64 %size, %head_and_gap
  %head = call ptr @malloc(i64 %total)
  %none = icmp eq ptr %head, null
  br i1 %none, label %end, label %fill
fill:
  %begin = ptrtoint ptr %head to i64
  %earliest = add i64 %begin, 48
  %less = sub i64 %aligned, 1
  %latest = add i64 %earliest, %less
  %mask = xor i64 %less, -1
  %where = and i64 %latest, %mask
  store i64 1, ptr %head
  %dtor = getelementptr i64, ptr %head, i64 1
  store i64 0, ptr %dtor
  %data = getelementptr i64, ptr %head, i64 3
  store i64 %where, ptr %data
  br label %end
end:
  ret ptr %head
}

define linkonce_odr ptr @NRT_MemInfo_alloc_dtor(i64 %size, ptr %let_go) {
  %head = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  %none = icmp eq ptr %head, null
  br i1 %none, label %end, label %fill
fill:
  %dtor = getelementptr i64, ptr %head, i64 1
  store ptr %let_go, ptr %dtor
  br label %end
end:
  ret ptr %head
}

define linkonce_odr void @NRT_incref(ptr %head) noinline {
  %none = icmp eq ptr %head, null
  br i1 %none, label %end, label %count
count:
  %before = load i64, ptr %head
  %after = add i64 %before, 1
  store i64 %after, ptr %head
  br label %end
end:
  ret void
}

define void @NRT_decref(ptr %head) noinline {
  %none = icmp eq ptr %head, null
  br i1 %none, label %end, label %count
count:
  %before = load i64, ptr %head
  %after = sub i64 %before, 1
  store i64 %after, ptr %head
  %last = icmp eq i64 %after, 0
  br i1 %last, label %free, label %end
free:
  %at = getelementptr i64, ptr %head, i64 1
  %let_go = load ptr, ptr %at
  %simple = icmp eq ptr %let_go, null
  br i1 %simple, label %give_back, label %let_go_first
let_go_first:
  %data_at = getelementptr i64, ptr %head, i64 3
  %data = load ptr, ptr %data_at
  call void %let_go(ptr %data, i64 0, ptr null)
  br label %give_back
give_back:
  call void @free(ptr %head)
  br label %end
end:
  ret void
}
"""


def object_code(function: Compiled, kinds: str) -> ObjectCode:
    """Compile a function of a state and a number.

    Parameters
    ----------
    function
        The function.
    kinds
        Kinds of the state's fields.

    Returns
    -------
    ObjectCode
        Object code with all callees.
    """
    annotations = function.py_func.__annotations__
    (number,) = [annotations[name] for name in list(annotations)[1:] if name != "return"]
    state = state_type(kinds)
    arguments = state, _NUMBERS[number]
    inner = cast(Any, function.machine).inner
    with _no_collecting():
        inner.compile(arguments)
    compiled = inner.overloads[arguments]
    symbol = compiled.fndesc.llvm_func_name
    module = compiled.library._get_module_for_linking().clone()
    module.get_function(symbol).linkage = "external"
    code = _optimized(symbol, module)
    return ObjectCode(code, symbol, payload_offsets(state, cpu_target.target_context))


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Disable garbage collection, which takes a seventh of the time of compiling."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _optimized(symbol: str, module: Any) -> bytes:
    """Return the machine code of a function with its callees."""
    codegen = cpu_target.target_context.codegen()
    module.link_in(binding.parse_assembly(_MEMORY))
    library = codegen.create_library(symbol)
    library._final_module = module
    library._optimize_final_module()
    return bytes(codegen._tm.emit_object(module))
