"""Numba's private interfaces that the core uses: one line names each that a new release has
moved."""

import ast
import configparser
import importlib
import inspect
from functools import reduce

import numba
import pytest

from games.compile.compiler import FIRST_REFUSED, require_version
from tests.games.support import REPOSITORY
from tests.support import refusal

# what is imported from modules other than numba, numba.extending and numba.core.types
IMPORTED = {
    "numba": ["_dynfunc"],
    "numba.core": [
        "cgutils",
        "errors",
        "funcdesc",
        "ir",
        "lowering",
        "typed_passes",
        "types",
        "untyped_passes",
    ],
    "numba.core.codegen": ["JITCodeLibrary"],
    "numba.core.compiler": ["CompilerBase", "Flags", "_LowerResult"],
    "numba.core.compiler_machinery": ["LoweringPass", "PassManager", "register_pass"],
    "numba.core.datamodel": ["models"],
    "numba.core.dispatcher": ["Dispatcher"],
    "numba.core.imputils": ["lower_constant"],
    "numba.core.typing.templates": ["AbstractTemplate", "infer_global", "signature"],
}
USED = {
    "numba._dynfunc": ["make_function"],
    "numba.config": ["CACHE_DIR", "DISABLE_JIT"],
    "numba.core.cgutils": ["alloca_once"],
    "numba.core.caching": [
        "FunctionCache._index_key",
        "FunctionCache.flush",
        "FunctionCache.load_overload",
        "FunctionCache.save_overload",
    ],
    "numba.core.codegen": [
        f"JITCodeLibrary.{name}"
        for name in (
            "add_linking_library",
            "enable_object_caching",
            "finalize",
            "get_pointer_to_function",
            "_optimize_functions",
        )
    ],
    "numba.core.compiler": [
        "CompilerBase.define_pipelines",
        "Flags.forceinline",
        "Flags.get_mangle_string",
        "Flags.noalias",
        "Flags._values",
    ],
    "numba.core.compiler_machinery": ["PassManager.add_pass", "PassManager.finalize"],
    "numba.core.cpu": [
        f"CPUContext.{name}"
        for name in ("codegen", "insert_user_function", "mangler", "push_code_library")
    ],
    "numba.core.datamodel": ["models.StructModel"],
    "numba.core.dispatcher": [
        "Dispatcher.compile",
        "Dispatcher.disable_compile",
        "Dispatcher.enable_caching",
        "Dispatcher.get_call_template",
    ],
    "numba.core.errors": ["NumbaError", "UnsupportedBytecodeError"],
    "numba.core.funcdesc": ["PythonFunctionDescriptor.from_specialized_function"],
    "numba.core.ir": ["Expr"],
    "numba.core.lowering": ["Lower.lower"],
    "numba.core.typed_passes": [
        "AnnotateTypes",
        "IRLegalization",
        "NativeLowering",
        "NoPythonBackend",
        "NopythonTypeInference",
        "PreLowerStripPhis",
    ],
    "numba.core.typing.context": ["BaseContext.resolve_function_type"],
    "numba.core.untyped_passes": [
        "FixupArgs",
        "GenericRewrites",
        "IRProcessing",
        "ReconstructSSA",
        "TranslateByteCode",
    ],
}
PARAMETERS = {
    ("numba.core.compiler", "CompilerBase"): [
        "typingctx",
        "targetctx",
        "library",
        "args",
        "return_type",
        "flags",
        "locals",
    ],
    ("numba.core.compiler", "_LowerResult"): ["fndesc", "call_helper", "cfunc", "env"],
    ("numba.core.compiler_machinery", "register_pass"): ["mutates_CFG", "analysis_only"],
    ("numba.core.funcdesc", "PythonFunctionDescriptor.from_specialized_function"): [
        "func_ir",
        "typemap",
        "restype",
        "calltypes",
        "mangler",
        "inline",
        "noalias",
        "abi_tags",
    ],
    ("numba.core.lowering", "Lower"): ["context", "library", "fndesc", "func_ir", "metadata"],
}
# of a compiled function, and of the machine code of one signature
OF_DISPATCHER = ["_cache", "_cache_hits", "_can_compile", "overloads", "py_func"]
OF_OVERLOAD = [
    "fndesc.llvm_cfunc_wrapper_name",
    "library._finalized",
    "library._linking_libraries",
    "signature.return_type",
    "type_annotation.blocks",
    "type_annotation.typemap",
]


def require(owner: object, name: str, path: str) -> object:
    """An attribute by its dotted path; fails with one line that names it."""
    try:
        return reduce(getattr, path.split("."), owner)
    except AttributeError:
        pytest.fail(
            f"Numba {numba.__version__} has no {name}.{path}, which the compiled core uses",
            pytrace=False,
        )


def module_of(name: str) -> object:
    """A module or another attribute of numba, by its name."""
    return numba.config if name == "numba.config" else importlib.import_module(name)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for table in (IMPORTED, USED)
        for module, names in table.items()
        for name in names
    ],
)
def test_numba_has_the_private_interface(module, name):
    require(module_of(module), module, name)


@pytest.mark.parametrize(("module", "name"), PARAMETERS)
def test_the_private_interface_takes_the_same_parameters(module, name):
    found = list(inspect.signature(require(module_of(module), module, name)).parameters)
    assert found == PARAMETERS[module, name], (
        f"Numba {numba.__version__}: {module}.{name} takes {', '.join(found)}"
    )


def test_a_compiled_function_has_the_private_attributes():
    @numba.njit("int64(int64)")
    def double(x):
        return 2 * x

    for path in OF_DISPATCHER:
        require(double, "Dispatcher", path)
    (overload,) = double.overloads.values()
    for path in OF_OVERLOAD:
        require(overload, "CompileResult", path)


def test_every_import_of_a_private_interface_is_listed():
    public, found = {"numba.extending"}, {}
    for path in (
        path
        for layer in ("games", "evalterms", "tuner")
        for path in (REPOSITORY / layer).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module.split(".")[0] == "numba"
                and node.module not in public
            ):
                found.setdefault(node.module, set()).update(alias.name for alias in node.names)
    assert {module: sorted(names, key=str.lower) for module, names in found.items()} == {
        module: sorted(names, key=str.lower) for module, names in IMPORTED.items()
    }


def test_the_version_bound_is_that_of_the_package():
    setup = configparser.ConfigParser()
    setup.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    (line,) = [
        line for line in setup["options"]["install_requires"].split() if line.startswith("numba")
    ]
    assert line.endswith(",<" + ".".join(map(str, FIRST_REFUSED)))


@pytest.mark.parametrize("version", ["0.60.0", "0.68.1", "0.68.1+local", "0.68.0rc1"])
def test_older_versions_are_accepted(version):
    require_version(version)


@pytest.mark.parametrize(
    "version", ["0.69.0", "0.69.0rc1", "0.69.0dev0+12.gabc", "0.70.1", "1.0.0"]
)
def test_a_version_that_is_too_new_is_refused_in_one_line(version):
    assert (
        refusal(require_version, version)
        == f"Numba {version} is installed, expected a version below 0.69; run: pip install"
        " 'numba<0.69'"
    )
