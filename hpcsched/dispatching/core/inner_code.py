"""Compiled functions as called by others: intermediate code that becomes part of the caller.

numba optimizes each function, and translates it, together with all that it calls, so that code
eight calls deep goes through this nine times. Here callees stay in LLVM's intermediate form,
without a wrapper for Python, until a function that Python calls is complete. With that, all of
`hpcsched.dispatching.core` takes 21 s of processor time to compile instead of 35, and 14 s with the
steps left out by `_InnerFlags`, `_Lower` and `_NEEDLESS`.
"""

from functools import cache
from typing import Any, cast

from numba.core import ir, types
from numba.core.cgutils import alloca_once
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes

from hpcsched.dispatching.core.compile_time import function_begins
from hpcsched.dispatching.core.compiled import Compiled

# What numba does for functions inside functions and for sums and products of whole arrays. There
# are none of the former, and the latter are right without, if slower.
_NEEDLESS = (InlineClosureLikes, NopythonRewrites)

# Expressions that are, or are a part of, what was there before.
_BORROWING = {
    "cast",
    "getattr",
    "getitem",
    "getiter",
    "iternext",
    "pair_first",
    "pair_second",
    "phi",
    "static_getitem",
}


class _InnerLibrary(JITCodeLibrary):
    """Intermediate form of one function, with references to its callees."""

    _with_called: Any = None

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave functions unoptimised; the outermost caller is optimised as a whole."""

    def finalize(self) -> None:
        """Mark the functions so that several modules may contain them."""
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "external":
                function.linkage = "linkonce_odr"
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return the function with its callees, for its outermost caller."""
        self._ensure_finalized()
        if self._with_called is None:
            self._with_called = self._final_module.clone()
            modules = [
                library._final_module
                if isinstance(library, _InnerLibrary)
                else library._get_module_for_linking()
                for library in self._called()
            ]
            # LLVM leaves out what nothing refers to so far, so that the order of modules, which is
            # any, may call for another round.
            before, missing = None, self._missing()
            while missing and missing != before:
                for module in modules:
                    self._with_called.link_in(module, preserve=True)
                before, missing = missing, self._missing()
        return self._with_called

    def _missing(self) -> set[str]:
        """Return the names of numba's functions that are called but not defined."""
        functions = self._with_called.functions
        return {of.name for of in functions if of.is_declaration and of.name.startswith("_ZN")}

    def _called(self) -> list[Any]:
        """Return the libraries of all direct and indirect callees, each once."""
        called: dict[Any, None] = {}
        found = list(self._linking_libraries)
        while found:
            library = found.pop()
            if library not in called:
                called[library] = None
                if isinstance(library, _InnerLibrary):
                    found += library._linking_libraries
        return list(called)


class _InnerFlags(Flags):
    """Options that are equal only to themselves.

    numba looks up the functions behind each operation by the options in force, which takes a
    seventh of the time if each comparison is of all their values.
    """

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Compare by identity."""
        return self is other

    def copy(self) -> Flags:
        """Return these options themselves, which are never changed."""
        return self


@cache
def _inner_flags(flags: Flags) -> Flags:
    """Return the same options, once for all, without the making of machine code."""
    inner: Any = _InnerFlags(flags)
    inner.no_compile = True
    return cast(Flags, inner)


class _Lower(Lower):
    """Lowering to intermediate form without debug information.

    To find the size of a variable for a debugger, a twentieth of all work, numba has LLVM read a
    module.
    """

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Allocate a local variable."""
        return alloca_once(self.builder, lltype, name=name, zfill=False)


class _Uncounted(NRTContext):
    """Memory context without reference counts, for objects that the caller holds."""

    def incref(self, builder: Any, kind: Any, value: Any) -> None:
        """Skip the count of a new reference."""

    def decref(self, builder: Any, kind: Any, value: Any) -> None:
        """Skip the count of a dropped reference."""


def _only_borrows(state: Any) -> bool:
    """Check whether all arrays and records in a typed function are held by its caller.

    These are its arguments, their fields and parts of them. References to them need no counting,
    which otherwise is half of the instructions of short functions.
    """

    def is_counted(kind: Any) -> bool:
        return bool(state.targetctx.data_model_manager[kind].contains_nrt_meminfo())

    if is_counted(state.return_type):
        return False
    for block in state.func_ir.blocks.values():
        for step in block.body:
            if isinstance(step, ir.SetAttr):
                return False
            if (
                isinstance(step, ir.Assign)
                and isinstance(step.value, ir.Expr)
                and step.value.op not in _BORROWING
                and is_counted(state.typemap[step.target.name])
            ):
                return False
    return True


@register_pass(mutates_CFG=False, analysis_only=True)
class _NoteCallees(AnalysisPass):
    """Pass that notes the progress of compilation, once the callees of a function are known."""

    _name = "note_callees"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Note the function, with its callees in branches that are not dead."""
        steps = (step for block in state.func_ir.blocks.values() for step in block.body)
        values = (step.value for step in steps if isinstance(step, ir.Assign))
        named = (value.value for value in values if isinstance(value, ir.Global))
        called = [value.py_func for value in named if isinstance(value, Compiled)]
        function_begins(state.func_id.func, called)
        return False


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    """Pass that lowers a typed function to LLVM's intermediate form, and no further."""

    _name = "inner_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """Class of the lowering."""
        return _Lower

    def run_pass(self, state: Any) -> bool:
        """Make a library of the function, registered for callers by a key."""
        state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        if _only_borrows(state):
            state.targetctx.nrt = _Uncounted(state.targetctx, True)
        super().run_pass(state)
        state.library.finalize()
        key = object()
        state.targetctx.insert_user_function(key, state.cr.fndesc, [state.library])
        state["cr"] = state.cr._replace(cfunc=key)
        return True


class _InnerCompiler(CompilerBase):
    """numba's compiler with that pass."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = _inner_flags(self.state.flags)

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_InnerLowering if step is NativeLowering else step, purpose)
            for step, purpose in manager.passes
            if step not in _NEEDLESS
        ]
        manager.add_pass_after(_NoteCallees, DeadBranchPrune)
        manager.finalize()
        return [manager]


class InnerDispatcher(CPUDispatcher):
    """Function for compiled callers alone, compiled for each combination of argument types.

    It cannot call itself.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        options = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, {}, options, _InnerCompiler)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return numba's typing of a call.

        Literal numbers are typed as general numbers, or there would be one function more for each.
        """
        # True stays literal. numba leaves out the branches of a comparison with None if it knows
        # the argument to be None or a literal; by the value of a literal, True or False, it leaves
        # out nothing. So what rules out code is a flag of True or None.
        kinds = (
            kind if isinstance(kind, types.BooleanLiteral) else types.unliteral(kind)
            for kind in args
        )
        return super().get_call_template(tuple(kinds), kws)

    def add_overload(self, cres: Any) -> None:
        """Register compiled code, out of reach for Python."""
        self.overloads[tuple(cres.signature.args)] = cres
