"""Numba pipelines that optimize a call tree once instead of at every level.

By default Numba generates machine code for every function and optimizes a callee again inside each
caller. Here functions that only compiled code calls stay unoptimized intermediate code (LLVM IR);
an entry point collects its whole call tree, optimizes it once and generates machine code. Passes
for unused Python features (closures, `with`, literal unrolling, array expressions) are omitted.
Together this halves the compile time. The pipelines plug in through Numba's `pipeline_class` and
custom passes, but use private interfaces, which tests/games/test_numba.py lists."""

import re

import numba
import numpy as np
from numba import _dynfunc
from numba.core import funcdesc, lowering, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags, _LowerResult
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass

from games.streams import InputError

# isort: split


class SettledFlags(Flags):
    """Compile flags that hash and compare by the flags set: Numba uses them as keys of tens of
    thousands of type lookups."""

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other) -> bool:
        return (
            self._values == other._values
            if isinstance(other, SettledFlags)
            else super().__eq__(other)
        )


class RememberingContext:
    """A typing context that resolves the type of an operator on numbers once per program.

    Numba tries dozens of candidates (of sets, arrays, ufuncs) at every use.
    """

    def __init__(self, context) -> None:
        self._context = context

    def __getattr__(self, name: str):
        return getattr(self._context, name)

    def resolve_function_type(self, function, args, kws):
        if (
            kws
            or not isinstance(function, types.Function)
            or not all(isinstance(a, types.Number | types.Boolean) for a in args)
        ):
            return self._context.resolve_function_type(function, args, kws)
        key = function, tuple(args)
        if key not in _resolved:
            _resolved[key] = self._context.resolve_function_type(function, args, kws)
        return _resolved[key]


_resolved: dict = {}


class Compiler(CompilerBase):
    """The common base of both pipelines, which differ in their `lowering`."""

    lowering: type

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals) -> None:
        super().__init__(
            RememberingContext(typingctx),
            targetctx,
            library,
            args,
            return_type,
            SettledFlags(flags),
            locals,
        )

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager(self.lowering.__name__)
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.GenericRewrites,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.IRLegalization,
            typed_passes.AnnotateTypes,
            self.lowering,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class InnerLibrary(JITCodeLibrary):
    """Intermediate code of one function and references to its callees; never machine code."""

    def finalize(self) -> None:
        self._finalized = True

    def _optimize_functions(self, module) -> None:
        """Do nothing: the library of the entry point optimizes the whole call tree."""

    def add_linking_library(self, library) -> None:
        self._linking_libraries.append(library)


class EntryLibrary(JITCodeLibrary):
    """Machine code of an entry point and its call tree."""

    _linking_libraries: list[JITCodeLibrary]

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
    """Lower a function to intermediate code and declare it to its callers."""

    _name = "evaltune_inner_lowering"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state) -> bool:
        context, flags = state.targetctx, state.flags
        state.library = InnerLibrary(context.codegen(), state.func_id.func_qualname)
        description = funcdesc.PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=context.mangler,
            inline=flags.forceinline,
            noalias=flags.noalias,
            abi_tags=[flags.get_mangle_string()],
        )
        with context.push_code_library(state.library):
            lower = lowering.Lower(
                context, state.library, description, state.func_ir, metadata=state.metadata
            )
            lower.lower()
        never_called = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "", 0, lower.env, (state.library,)
        )
        context.insert_user_function(never_called, description, [state.library])
        state["cr"] = _LowerResult(
            description, lower.call_helper, cfunc=never_called, env=lower.env
        )
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class EntryLowering(typed_passes.NativeLowering):
    """Generate machine code of the whole call tree."""

    _name = "evaltune_entry_lowering"

    def run_pass(self, state) -> bool:
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


class InnerCompiler(Compiler):
    """The pipeline of functions that only compiled code calls."""

    lowering = InnerLowering


class EntryCompiler(Compiler):
    """The pipeline of functions that Python calls."""

    lowering = EntryLowering


# the same bound as in setup.cfg; tests/games/test_numba.py names the private interfaces in use
FIRST_REFUSED = (
    0,
    69,
)


def require_version(found: str) -> None:
    """Raise InputError for a Numba release that is too new: the core uses private interfaces, which
    change between releases."""
    if tuple(int(number) for number in re.findall(r"\d+", found)[:2]) >= FIRST_REFUSED:
        bound = ".".join(map(str, FIRST_REFUSED))
        raise InputError(
            f"Numba {found} is installed, expected a version below {bound}; run: pip install"
            f" 'numba<{bound}'"
        )


require_version(numba.__version__)

PLAIN = bool(numba.config.DISABLE_JIT)
if PLAIN:
    np.seterr(over="ignore")  # uint64 arithmetic wraps around, as in compiled code
OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": False}
