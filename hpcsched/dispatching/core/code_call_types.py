"""numba's typing and lowering of `call_code`."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from hpcsched.dispatching.core.state_function import call_code


@infer_global(call_code)
class _CallCode(AbstractTemplate):
    """Type of a call by address."""

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the signature of a call: address, state and number."""
        assert not kws
        address = args[0] if args[0] is types.none else types.int64
        return signature(types.none, address, args[1], types.int64)


def _lower(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
    """Emit the LLVM instructions of a call, as numba does for its own functions."""
    address, *rest = arguments
    kinds = call.args[1:]
    kind = context.call_conv.get_function_type(types.none, kinds)
    function = builder.inttoptr(address, ir.PointerType(kind))
    status, _ = context.call_conv.call_function(builder, function, types.none, kinds, rest)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return context.get_dummy_value()


def _lower_none(context: Any, *_: Any) -> Any:
    """Write nothing: where Python decides, numba does not see that the call is not reached."""
    return context.get_dummy_value()


lower_builtin(call_code, types.Integer, types.StructRef, types.Integer)(_lower)
lower_builtin(call_code, types.NoneType, types.StructRef, types.Integer)(_lower_none)
