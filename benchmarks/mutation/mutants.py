"""Mutants of a source file: copies with one small change, made by mutmut's operators."""

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst
from libcst.metadata import (
    ByteSpanPositionProvider,
    CodeSpan,
    MetadataWrapper,
    PositionProvider,
)
from mutmut.mutation import mutators

# Left out are changes to strings, which are names and messages, and None for an argument or for an
# assigned value: those nearly always end in a TypeError, whatever is tested.
OPERATORS = [
    (kind, operator)
    for kind, operator in mutators.mutation_operators
    if operator not in (mutators.operator_string, mutators.operator_assignment)
]

# No behaviour rests on these: what a type checker reads, and what only tells types apart.
FOR_TYPES = {"cast", "TypeVar", "NewType", "isinstance", "len"}
# zip(strict=True) says that lengths are the same wherever the code is right; a description is read
# by people.
NO_RULE = {"strict", "description"}

Key = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Mutant:
    """One change to one file.

    `was` and `now` are the lines that differ, without indentation. With the file and the function
    they name the mutant when lines elsewhere change; `nth` tells those apart that differ in nothing
    else. `lines` is where a test must come by to notice it. `on_call` tells whether the change lies
    in the body of a function; anything else takes effect as the module is imported.
    """

    file: str
    function: str
    was: str
    now: str
    line: int
    lines: tuple[int, int]
    first_line_of_function: int
    on_call: bool
    operator: str
    source: str
    nth: int

    @property
    def key(self) -> Key:
        """What names the mutant, whatever else changes in its file."""
        return self.file, self.function, self.was, self.now, self.nth


# Node, changed node, operator, function, first line of the function, lines.
Found = tuple[libcst.CSTNode, libcst.CSTNode, str, str, int, tuple[int, int]]


class Changes(libcst.CSTVisitor):
    """Collects changed nodes of a module, and where they stand."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.around: list[libcst.FunctionDef | libcst.ClassDef] = []
        self.statements: list[libcst.CSTNode] = []
        self.found: list[Found] = []

    def on_visit(self, node: libcst.CSTNode) -> bool:
        """Change a node in all ways; the nodes in it too unless no behaviour rests on them."""
        if isinstance(node, libcst.Annotation | libcst.Decorator):
            return False
        if isinstance(node, libcst.Arg) and named(node.keyword) in NO_RULE:
            return False
        if isinstance(node, libcst.Call) and named(node.func) in FOR_TYPES:
            return False
        if isinstance(node, libcst.BaseCompoundStatement | libcst.SimpleStatementLine):
            self.statements.append(node)
        for kind, operator in OPERATORS:
            if isinstance(node, kind):
                for changed in operator(node):
                    if not tells_nothing(node, changed):
                        self.add(node, changed, operator.__name__.removeprefix("operator_"))
        return super().on_visit(node)

    def on_leave(self, original_node: libcst.CSTNode) -> None:
        """Leave a statement."""
        super().on_leave(original_node)
        if self.statements and self.statements[-1] is original_node:
            self.statements.pop()

    def on_visit_attribute(self, node: libcst.CSTNode, attribute: str) -> None:
        """Enter the body of a function or class."""
        if attribute == "body" and isinstance(node, libcst.FunctionDef | libcst.ClassDef):
            self.around.append(node)

    def on_leave_attribute(self, original_node: libcst.CSTNode, attribute: str) -> None:
        """Leave the body of a function or class."""
        if attribute == "body" and isinstance(original_node, libcst.FunctionDef | libcst.ClassDef):
            self.around.pop()

    def add(self, node: libcst.CSTNode, changed: libcst.CSTNode, operator: str) -> None:
        """Keep a change with where it stands."""
        end = self.get_metadata(PositionProvider, node).end.line
        start = self.get_metadata(PositionProvider, self.statements[-1]).start.line
        functions = [body for body in self.around if isinstance(body, libcst.FunctionDef)]
        body = self.first_line(functions[0]) if functions else 0
        name = ".".join(body.name.value for body in self.around)
        self.found.append((node, changed, operator, name, body, (start, end)))

    def first_line(self, function: libcst.FunctionDef) -> int:
        """The line that a code object tells as its first: that of the first decorator, if any."""
        first = function.decorators[0] if function.decorators else function
        return int(self.get_metadata(PositionProvider, first).start.line)


def named(thing: libcst.CSTNode | None) -> str:
    """Return the name that a node is, or nothing."""
    return thing.value if isinstance(thing, libcst.Name) else ""


def tells_nothing(node: libcst.CSTNode, changed: libcst.CSTNode) -> bool:
    """Tell whether a call got None for an argument, or lost one that holds no rule."""
    if not isinstance(node, libcst.Call) or not isinstance(changed, libcst.Call):
        return False
    if node.func is not changed.func:
        return False
    lost = [arg for arg in node.args if not any(arg is kept for kept in changed.args)]
    return len(node.args) == len(changed.args) or any(named(a.keyword) in NO_RULE for a in lost)


def mutants_of(root: Path, file: str) -> Iterator[Mutant]:
    """Make all mutants of a file, each once, without those that are no Python."""
    source = (root / file).read_text()
    wrapper = MetadataWrapper(libcst.parse_module(source))
    changes = Changes()
    wrapper.visit(changes)
    spans = wrapper.resolve(ByteSpanPositionProvider)
    code = source.encode()
    seen = {None, meaning(source)}
    alike: Counter[tuple[str, str, str]] = Counter()
    for node, changed, operator, function, first, lines in changes.found:
        mutated = replaced(wrapper.module, node, changed, code, spans[node])
        meant = meaning(mutated)
        if meant in seen:
            continue
        seen.add(meant)
        line, was, now = difference(source, mutated)
        nth = alike[function, was, now]
        alike[function, was, now] += 1
        yield Mutant(
            file, function, was, now, line, lines, first, bool(first), operator, mutated, nth
        )


def meaning(source: str) -> str | None:
    """Return what tells sources apart that differ in more than their layout; None of no Python."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return None


def replaced(
    module: libcst.Module,
    node: libcst.CSTNode,
    changed: libcst.CSTNode,
    code: bytes,
    span: CodeSpan,
) -> str:
    """Return a module's code with one node changed.

    Only that node's text is made anew, which is a hundred times faster, unless the text does not
    stand in the node's span as it is.
    """
    around = getattr(node, "lpar", ())
    if around:  # the span is without parentheses; those of the changed node are mostly the same
        node = node.with_changes(lpar=(), rpar=())
        if getattr(changed, "lpar", ()) is around:
            changed = changed.with_changes(lpar=(), rpar=())
    start, end = span.start, span.start + span.length
    start += len(code[start:end]) - len(code[start:end].lstrip())
    if code[start:end].rstrip() == text_of(module, node):
        end = start + len(code[start:end].rstrip())
        return (code[:start] + text_of(module, changed) + code[end:]).decode()
    deep = module.deep_replace(node, changed)
    assert isinstance(deep, libcst.Module)
    return deep.code


def text_of(module: libcst.Module, node: libcst.CSTNode) -> bytes:
    """Return a node's text without the blanks around it."""
    return module.code_for_node(node).strip().encode()


def difference(before: str, after: str) -> tuple[int, str, str]:
    """Return the first line that differs, and the lines that do, before and after."""
    old, new = before.splitlines(), after.splitlines()
    same = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    matcher = difflib.SequenceMatcher(None, old[same:], new[same:], autojunk=False)
    was: list[str] = []
    now: list[str] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            was += old[same + a : same + b]
            now += new[same + c : same + d]
    return same + 1, joined(was), joined(now)


def joined(lines: Iterable[str]) -> str:
    """Join lines as they stand in a report and in `explained.toml`."""
    return " ".join(line.strip() for line in lines)
