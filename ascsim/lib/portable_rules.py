"""The rules of portability as tables: what pyasc refuses or compiles to something else, and what to write instead.

Found in the front end of pyasc 1.1.1 and held against it by the tests marked `npu`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Verdict(Enum):
    """What pyasc does with a construct: refuses it, accepts it and means something else, or means what it meant once.

    A kernel that is launched through ascsim is never STALE: its key in pyasc's cache has the values of its globals.
    One that ENDS the process of pyasc, without an error, is never handed to it. Refused by pyasc ALONE, where it runs
    the script itself, is what ascsim has resolved when it hands the kernel on.
    """

    REFUSED = "refused"
    ENDS = "ends"
    ALONE = "alone"
    DIFFERS = "differs"
    STALE = "stale"

    def __lt__(self, other: Verdict) -> bool:
        return self.value < other.value


class Rule(NamedTuple):
    """`construct` as the author wrote it, what is wrong, what to write instead, and what pyasc does."""

    construct: str
    problem: str
    remedy: str
    verdict: Verdict = Verdict.REFUSED


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """A rule that a line breaks."""

    file: str
    line: int
    construct: str
    problem: str
    remedy: str
    verdict: Verdict = Verdict.REFUSED

    @property
    def text(self) -> str:
        """`construct: problem; remedy`."""
        return f"{self.construct}: {self.problem}; {self.remedy}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


ACCEPTED_BUILTINS = frozenset("dict float int isinstance issubclass len list range repr str tuple type".split())
NUMBERS_OF = frozenset("get_block_idx get_block_num get_sub_block_idx get_sub_block_num get_task_ratio".split())
NEWER = frozenset("bfloat16 swiglu softmax_flash_v2 SoftMaxShapeInfo SoftmaxConfig".split())

_NOT = "is not kernel Python"
_HOST = "do it on the host, before the launch"
_COMPREHENSION = Rule("comprehension", _NOT, "write the elements out, or loop with asc.static_range")
_FLAG = "compute a flag and test it in an `if`, or choose the bounds of the loop"
_LET = "assign on a line of its own"

# Keys: the class of a syntax node, or a name that the reader of a function uses.
SYNTAX: dict[str, Rule] = {
    "Break": Rule("break", _NOT, _FLAG),
    "Continue": Rule("continue", _NOT, "put the rest of the turn into an `if`"),
    "Lambda": Rule("lambda", _NOT, "write a function with @asc.jit"),
    "FunctionDef": Rule("nested function", _NOT, "move it out of the function, with @asc.jit"),
    "AsyncFunctionDef": Rule("nested function", _NOT, "move it out of the function, with @asc.jit"),
    "ClassDef": Rule("class", _NOT, "define it at the top of the module"),
    "ListComp": _COMPREHENSION,
    "SetComp": _COMPREHENSION,
    "DictComp": _COMPREHENSION,
    "GeneratorExp": _COMPREHENSION,
    "Dict": Rule("dictionary", _NOT, "make it at the top of the module, or use names"),
    "Set": Rule("set", _NOT, "make it at the top of the module, or use a tuple"),
    "Try": Rule("try", _NOT, _HOST),
    "TryStar": Rule("try", _NOT, _HOST),
    "Raise": Rule("raise", _NOT, "asc.static_assert tests compile-time values; test others on the host"),
    "Import": Rule("import", _NOT, "import at the top of the module"),
    "ImportFrom": Rule("import", _NOT, "import at the top of the module"),
    "Global": Rule("global", _NOT, "pass the value as an argument"),
    "Nonlocal": Rule("nonlocal", _NOT, "pass the value as an argument"),
    "Delete": Rule("del", _NOT, "leave it out"),
    "NamedExpr": Rule(":=", _NOT, _LET),
    "Match": Rule("match", _NOT, "use `if`"),
    "Yield": Rule("yield", _NOT, "use a loop"),
    "YieldFrom": Rule("yield", _NOT, "use a loop"),
    "Await": Rule("await", _NOT, "leave it out"),
    "AsyncFor": Rule("async for", _NOT, "use `for`"),
    "AsyncWith": Rule("async with", _NOT, "use `with`"),
    "Starred": Rule("*", _NOT, "write the elements out"),
    "no source": Rule("function without a source file", "pyasc reads the source", "keep the kernel in a file"),
    "variadic": Rule("*{name}", "pyasc has no variadic parameters", "name the parameters"),
    "default": Rule(
        "default value of a kernel's parameter", "pyasc leaves it out", "give the argument at the launch", Verdict.ALONE
    ),
    "text annotation": Rule(
        "annotation of {name} as text",
        "pyasc needs the object",
        "leave out `from __future__ import annotations`",
        Verdict.ALONE,
    ),
    "loop else": Rule("else of a loop", _NOT, "put it behind the loop"),
    "loop target": Rule("target of a for loop", "pyasc takes one name", "unpack in the body"),
    "iterable": Rule(
        "for over something else than a range", _NOT, "loop over range, asc.range or asc.static_range and index"
    ),
    "with items": Rule("several items of a with", "pyasc takes one", "nest them"),
    "several targets": Rule("assignment to several targets", "pyasc takes one", "write one line for each"),
    "attribute target": Rule("augmented assignment to a field", _NOT, "read the field, then assign it"),
    "target": Rule("target of an assignment", "pyasc takes a name, names, a subscript or a field", _LET),
    "return in a block": Rule("return inside a block", _NOT, "return at the end of the function"),
    "kernel returns": Rule("value of a kernel", "a kernel returns nothing", "store it in global memory"),
    "chained comparison": Rule("chained comparison", "pyasc takes one operator", "(a < b) and (b < c)"),
    "in": Rule("in", _NOT, "compare with each element"),
    "three operands": Rule("{word} of three", "pyasc takes two operands", "group them in pairs, with parentheses"),
    "plain operands": Rule(
        "{word} of compile-time values", "pyasc has it for run-time values alone", "nest two `if`, or use & and |"
    ),
    "not": Rule("not of a compile-time value", "pyasc has it for run-time values alone", "compare: `x == 0`"),
    "@": Rule("@", _NOT, "use asc.mmad or asc.adv.Matmul"),
    "starred argument": Rule("* or ** in a call", _NOT, "write the arguments out"),
    "newer name": Rule("{name}", "newer than pyasc 1.1.1", "needs a later front end"),
    "ended name": Rule(
        "{name} after the block of line {line}", "it was first assigned inside", "assign it before the block too"
    ),
    "hidden name": Rule(
        "{name} after the block of line {line}",
        "pyasc forgets what the block assigned, and takes the ConstExpr parameter of the same name",
        "use another name, and assign it before the block too",
        Verdict.DIFFERS,
    ),
    "carried number": Rule(
        "{name} in a block of the device",
        "it holds a plain number before the loop or `if`, and pyasc cannot carry that on",
        "begin with asc.number(value, asc.int32)",
    ),
    "carried value": Rule(
        "{name} in a block of the device",
        "it holds a {kind} before the loop or `if`, and pyasc carries numbers of the device alone",
        "choose by asc.static_range, or by an `if` on compile-time values",
    ),
    "plain at the end": Rule(
        "{name} in a block of the device",
        "a number of the device before, a plain value at the end of the block",
        "assign asc.number(value, dtype)",
    ),
    "other type": Rule(
        "{name} in a block of the device",
        "its type changes from {before} to {after}",
        "keep one type: value.cast(dtype)",
    ),
    "kept parameter": Rule(
        "{name} in a block of the device",
        "pyasc forgets the new value of a ConstExpr parameter: each turn, and what follows, has the one of the launch",
        "assign asc.number({name}, asc.int32) to another name before the block",
        Verdict.DIFFERS,
    ),
    "kept by with": Rule(
        "{name} in a with",
        "pyasc forgets the new value: each turn, and what follows, has the one from before",
        "keep it in a tensor, or loop over a range",
        Verdict.DIFFERS,
    ),
    "plain counter": Rule(
        "{name} as the counter of a loop", "it holds a plain value before the loop", "use another name"
    ),
    "taken counter": Rule(
        "{name} as the counter of a loop",
        "a number of the device has this name before the loop, and pyasc ends the process",
        "use another name",
        Verdict.ENDS,
    ),
    "kept counter": Rule(
        "{name}, the counter of a loop under a name from before it",
        "pyasc ends the process",
        "assign the counter + 0",
        Verdict.ENDS,
    ),
    "one value": Rule(
        "{name} and {other}, two names of one value",
        "the loop changes one of them, and pyasc changes both",
        "begin with {name} = {other} + 0, or slice a tensor: {other}[0:]",
        Verdict.DIFFERS,
    ),
    "taken over": Rule(
        "{name}, which takes over the value of {other}",
        "pyasc gives it, in every turn, what {other} was before the loop",
        "slice a tensor, {other}[0:]; work a number out from the counter of the loop, for {other} + 0 is no better",
        Verdict.DIFFERS,
    ),
    "while": Rule(
        "while over {name}, which the loop changes",
        "pyasc works the condition out once, before the loop, and the loop never ends",
        "loop over a range, with an `if` inside; or keep the number in a tensor",
        Verdict.DIFFERS,
    ),
    "numpy number": Rule(
        "{kind} of numpy",
        "the API of pyasc takes Python's numbers",
        "make it an int or a float at the top of the module",
    ),
    "returned": Rule(
        "{kind} as the result of a device function", "pyasc returns what the device holds", "write it where it is used"
    ),
    "assertion": Rule(
        "assert of a run-time value", "pyasc knows compile-time values alone", "test it on the host, or use asc.printf"
    ),
    "condition": Rule("{kind} as a condition", "pyasc takes numbers and None alone", "compare it"),
    "conditional types": Rule(
        "conditional expression of two types", "{before} or {after}", "make both the same: asc.number(value, dtype)"
    ),
    "conditional object": Rule(
        "conditional expression of a {kind}", "pyasc chooses between numbers alone", "write an `if`"
    ),
    "subscript": Rule(
        "subscript of a {kind} by a run-time number",
        "pyasc has its elements at compile time alone",
        "loop with asc.static_range, or keep the numbers in a tensor",
    ),
    "stored element": Rule(
        "assignment to an element of a {kind}", "pyasc has it for asc.array alone", "{kind}.set_value(index, value)"
    ),
    "static bound": Rule(
        "bound of asc.static_range known at run time", "pyasc unrolls the loop", "use asc.range, or an asc.ConstExpr"
    ),
    "operand": Rule("{kind} and a run-time number", "pyasc takes two numbers", "compare or compute it on the host"),
    "large operand": Rule(
        "{value} and a number of int32", "it does not fit, and pyasc takes it as int32", "n.cast(asc.int64) before"
    ),
    "unary": Rule("{word} of a run-time number", "pyasc has it for compile-time values alone", "{form}"),
    "negated float": Rule(
        "- of a float at run time", "pyasc makes nothing of it that can be used", "0.0 - x, or x * -1.0"
    ),
    "conversion": Rule("{name} of a run-time number", "pyasc has it for compile-time values alone", "x.cast(dtype)"),
    "argument": Rule(
        "{kind} as an argument of a device function",
        "pyasc passes on what the device holds",
        "annotate it asc.ConstExpr",
    ),
    "member": Rule(
        "{kind} from a parameter of a device function",
        "it is a number of the device there, and the API of pyasc takes members",
        "annotate the parameter asc.ConstExpr (one value for all calls), or write the call where the member stands",
    ),
    "called inside": Rule(
        "{name}, which {inner} has called before",
        "pyasc has lost what it returns",
        "call a device function once in {outer} before {inner}",
    ),
    "recursion": Rule("{name} calls itself", "pyasc has no recursion", "use a loop"),
    "same name": Rule(
        "{name}, the name of two device functions",
        "pyasc calls the first for both",
        "rename one",
        Verdict.DIFFERS,
    ),
    "other constant": Rule(
        "{parameter} of {name}",
        "pyasc uses the code that it made for {value}, at the first call",
        "pass it as a number, or write a function for each value",
        Verdict.DIFFERS,
    ),
    "argument types": Rule(
        "{parameter} of {name}",
        "{after} here and {before} at the first call, for which pyasc made the function",
        "pass one type: value.cast(dtype), or asc.number(value, dtype)",
    ),
    "element types": Rule(
        "{parameter} of {name}",
        "elements of {after} here and of {before} at the first call, for which pyasc made the function",
        "write a function for each type, or what it does in its place",
    ),
    "object outside": Rule("{name}", "an object of the API made outside the kernel", "make it in the kernel"),
    "bound queue": Rule("TQueBind in init_buffer", "pyasc gives memory to a TQue or TBuf alone", "take a TQue"),
    "method": Rule("{name}", "pyasc cannot look up a method of an object outside", "call it at the top of the module"),
    "closure": Rule(
        "{name} of the function around the kernel", "pyasc looks in globals alone", "make it a global or a parameter"
    ),
    "builtin": Rule(
        "{name}", "pyasc knows no such builtin", "asc.ceildiv, asc.printf or an `if`; or work it out on the host"
    ),
    "plain function": Rule("{name}", "is no jit function", "decorate it with @asc.jit"),
    "foreign function": Rule("{name}", "pyasc calls its own and jit functions alone", _HOST),
    "late global": Rule(
        "{name}, which the module assigns more than once",
        "pyasc keeps the kernel that it compiled with the first value, from one run to the next too",
        "make it a parameter, asc.ConstExpr[int]",
        Verdict.STALE,
    ),
    "iterate": Rule(
        "iterate as a statement",
        "pyasc drops it: nothing is computed on the device",
        "enter it: `with mm.iterate() as count:`",
        Verdict.DIFFERS,
    ),
}

_MMAD = "m n k is_bias fm_offset en_ssparse en_winograd_a en_winograd_b unit_flag cmatrix_source cmatrix_init_val"
_MMAD_NAMES = _MMAD.split()
_MMAD_GROUPS = (set(_MMAD_NAMES[3:8]), set(_MMAD_NAMES[8:]))


def _given(call: ast.Call, names: list[str]) -> dict[str, ast.expr]:
    """The arguments of a call by name."""
    positional = dict(zip(names, call.args, strict=False))
    return {**positional, **{keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}}


def _mmad_drops(call: ast.Call) -> bool:
    given = set(_given(call, _MMAD_NAMES))
    return bool(given) and given - {"m", "n", "k"} not in _MMAD_GROUPS


def _mmad_cuts(call: ast.Call) -> bool:
    flag = _given(call, _MMAD_NAMES).get("unit_flag")
    return isinstance(flag, ast.Constant) and flag.value not in (0, 1)


def _without_depth(call: ast.Call) -> bool:
    return "depth" not in _given(call, ["position", "depth"])


def _wait_cut_short(call: ast.Call) -> bool:
    return len(_given(call, ["flag_id", "mode_id", "pipe"])) < 3


Wrong = Callable[[ast.Call], bool]
_IGNORED = Rule(
    "arguments by position", "pyasc ignores them and makes an empty object", "name them all", Verdict.DIFFERS
)
# Calls of the API that pyasc's front end is known to get wrong: when, and the rule.
API: dict[str, tuple[tuple[Wrong, Rule], ...]] = {
    "MmadParams": (
        (
            _mmad_drops,
            Rule(
                "MmadParams with a part of its values",
                "pyasc makes an empty object: m = n = k = 0, and mmad does nothing on the device",
                "MmadParams(m, n, k, unit_flag=0, cmatrix_source=False, cmatrix_init_val=True)",
                Verdict.DIFFERS,
            ),
        ),
        (
            _mmad_cuts,
            Rule(
                "unit_flag of MmadParams",
                "pyasc cuts it to one bit",
                "order mmad and fixpipe by M_FIX",
                Verdict.DIFFERS,
            ),
        ),
    ),
    "get_mm_config": (
        (
            lambda call: bool(call.args or call.keywords),
            Rule("arguments of get_mm_config", "pyasc ignores them", "set the fields of MatmulConfig", Verdict.DIFFERS),
        ),
    ),
    "TensorDesc": ((lambda call: bool(call.args), _IGNORED),),
    "ListTensorDesc": ((lambda call: bool(call.args), _IGNORED),),
    "cross_core_wait_flag": (
        (
            _wait_cut_short,
            Rule(
                "cross_core_wait_flag with the flag alone",
                "pyasc wants the mode and the pipe of the set too",
                "cross_core_wait_flag(flag_id, mode_id, pipe)",
            ),
        ),
    ),
    "ShapeInfo": (
        (
            lambda call: any(isinstance(given, (ast.List, ast.Tuple)) for given in call.args),
            Rule("ShapeInfo of a list", "pyasc takes an array", "asc.ShapeInfo(asc.array(asc.uint32, [...]))"),
        ),
    ),
    "TQue": ((_without_depth, Rule("TQue without a depth", "pyasc has no default", "TQue(position, 1)")),),
}
