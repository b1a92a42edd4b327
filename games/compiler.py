"""Numba pipelines that do once what Numba does at every level of a call tree.

By default Numba turns every function into machine code and optimises a callee again inside each caller. Functions that
only compiled code calls need neither: here they stay unoptimised intermediate code until an entry point collects its
whole call tree, optimises it once and makes machine code of it. Passes for Python features that compiled code does not
use here (closures, `with`, literal unrolling, array expressions) are left out. Together that halves the compile time.
The hooks are Numba's documented ones (`pipeline_class`, custom passes).
"""

from __future__ import annotations

import games.numba_settings  # noqa: F401 - refuses a Numba that is too new before its private interfaces are imported

# isort: split
from numba import _dynfunc
from numba.core import funcdesc, lowering, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags, _LowerResult
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass


class SettledFlags(Flags):
    """Flags that compare by what was set: every operator's type is looked up by them, ten thousands of times."""

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other) -> bool:
        return self._values == other._values if isinstance(other, SettledFlags) else super().__eq__(other)


class RememberingContext:
    """A typing context that finds the type of an operator on numbers once, not at each place where it stands.

    Numba goes through dozens of candidates every time: the set's operator, the array's, the ufunc's.
    """

    def __init__(self, context) -> None:
        self._context = context

    def __getattr__(self, name: str):
        return getattr(self._context, name)

    def resolve_function_type(self, function, args, kws):
        if kws or not isinstance(function, types.Function) or not all(isinstance(a, types.Number | types.Boolean) for a in args):
            return self._context.resolve_function_type(function, args, kws)
        key = function, tuple(args)
        if key not in _resolved:
            _resolved[key] = self._context.resolve_function_type(function, args, kws)
        return _resolved[key]


_resolved: dict = {}


class Compiler(CompilerBase):
    """The base of both pipelines."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals) -> None:
        super().__init__(RememberingContext(typingctx), targetctx, library, args, return_type, SettledFlags(flags), locals)


class InnerLibrary(JITCodeLibrary):
    """Intermediate code of one function and the list of those it calls; never machine code."""

    def finalize(self) -> None:
        self._finalized = True

    def _optimize_functions(self, module) -> None:
        """The entry point's library optimises the whole."""

    def add_linking_library(self, library) -> None:
        self._linking_libraries.append(library)


class EntryLibrary(JITCodeLibrary):
    """Machine code of an entry point and everything that it calls."""

    def finalize(self) -> None:
        reached, pending = {}, list(self._linking_libraries)
        while pending:
            library = pending.pop()
            if id(library) not in reached:
                reached[id(library)] = library
                if isinstance(library, InnerLibrary):
                    pending.extend(library._linking_libraries)
        self._linking_libraries = list(reached.values())
        super().finalize()


@register_pass(mutates_CFG=False, analysis_only=False)
class InnerLowering(LoweringPass):
    """Lower to intermediate code and make it known to callers, without machine code."""

    _name = "evaltune_inner_lowering"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state) -> bool:
        context, flags = state.targetctx, state.flags
        state.library = InnerLibrary(context.codegen(), state.func_id.func_qualname)
        description = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir, state.typemap, state.return_type, state.calltypes, mangler=context.mangler,
            inline=flags.forceinline, noalias=flags.noalias, abi_tags=[flags.get_mangle_string()])
        with context.push_code_library(state.library):
            lower = lowering.Lower(context, state.library, description, state.func_ir, metadata=state.metadata)
            lower.lower()
        never_called = _dynfunc.make_function(description.lookup_module(), description.qualname, "", 0, lower.env,
                                              (state.library,))
        context.insert_user_function(never_called, description, [state.library])
        state["cr"] = _LowerResult(description, lower.call_helper, cfunc=never_called, env=lower.env)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class EntryLowering(typed_passes.NativeLowering):
    """Machine code of the whole call tree."""

    _name = "evaltune_entry_lowering"

    def run_pass(self, state) -> bool:
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


def _front(name: str) -> PassManager:
    passes = PassManager(name)
    passes.add_pass(untyped_passes.TranslateByteCode, "analyzing bytecode")
    passes.add_pass(untyped_passes.FixupArgs, "fix up args")
    passes.add_pass(untyped_passes.IRProcessing, "processing IR")
    passes.add_pass(untyped_passes.GenericRewrites, "nopython rewrites")
    passes.add_pass(untyped_passes.ReconstructSSA, "ssa")
    passes.add_pass(typed_passes.NopythonTypeInference, "nopython frontend")
    passes.add_pass(typed_passes.PreLowerStripPhis, "remove phis nodes")
    passes.add_pass(typed_passes.IRLegalization, "ensure IR is legal prior to lowering")
    passes.add_pass(typed_passes.AnnotateTypes, "annotate types")
    return passes


class InnerCompiler(Compiler):
    """For functions that only compiled code calls."""

    def define_pipelines(self) -> list[PassManager]:
        passes = _front("inner")
        passes.add_pass(InnerLowering, "intermediate code")
        passes.add_pass(typed_passes.NoPythonBackend, "nopython mode backend")
        passes.finalize()
        return [passes]


class EntryCompiler(Compiler):
    """For functions that Python calls."""

    def define_pipelines(self) -> list[PassManager]:
        passes = _front("entry")
        passes.add_pass(EntryLowering, "machine code")
        passes.add_pass(typed_passes.NoPythonBackend, "nopython mode backend")
        passes.finalize()
        return [passes]
