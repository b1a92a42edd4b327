"""Find the definitions of a source: names with a value, wherever a language allows them.

One pass over the code keeps the scopes: namespaces and types, functions, enumerations, and lists whose items have names. In
functions only constants count, so that `score = 0;` is never taken for a definition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from games.streams import InputError
from tuner.export.into.tokens import DEFINE, DIRECTIVE, END, NUMBER, SIGN, WORD, Source
from tuner.export.into.values import Node, Values

LONGEST_HEAD = 200  # tokens before a value; a statement with more defines nothing
DEEPEST = 127  # braces in braces, and `#if` in `#if`; C asks 127 and 63 of its compilers
OUTER, FUNCTION, ENUM, LIST = "outer", "function", "enum", "list"  # kinds of scopes
TYPES = {"namespace", "struct", "class", "union", "extern", "impl", "mod", "trait", "interface", "record", "module", "type"}
CONSTANT = {"const", "constexpr", "constinit", "static", "final", "readonly"}
FUNCTION_WORDS = {"fn", "func", "if", "for", "while", "match", "loop", "switch", "unsafe", "else", "do", "try", "select",
                  "finally"}
ACCESSORS = {"get", "set", "init"}
CONDITION = re.compile(r"#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b")


@dataclass(frozen=True)
class Definition:
    """A name and its value. `scopes`: the names of the namespaces, types and lists around it, from outside in; `kind`: that of
    the innermost scope; `types`: the words before the value."""

    name: str
    start: int
    node: Node
    source: Source
    scopes: tuple[str, ...]
    kind: str
    types: tuple[str, ...]

    @property
    def where(self) -> str:
        """Name, file and line for people."""
        return f"{self.name} ({self.source.at(self.start)})"


@dataclass
class _Scope:
    kind: str
    name: str = ""
    closing: str = "}"
    depth: int = 0  # of parentheses and square brackets
    head: list[int] = field(default_factory=list)  # tokens of the statement so far, at depth 0

    def copy(self) -> _Scope:
        return _Scope(self.kind, self.name, self.closing, self.depth, list(self.head))


def definitions_of(source: Source) -> list[Definition]:
    """Return the definitions of a source in their order."""
    finder = _Finder(source)
    finder.run()
    return finder.found


class _Finder:
    def __init__(self, source: Source) -> None:
        self.source, self.values = source, Values(source)
        self.words, self.kinds = source.words, self.values.kinds
        self.go, self.typed_after = source.language.line_ends, source.language.typed_after
        self.scopes = [_Scope(OUTER)]
        self.branches: list[list[_Scope]] = []  # the scopes at each `#if`, to which its other branches return
        self.found: list[Definition] = []

    def run(self) -> None:
        i = 0
        while i < len(self.words):
            if self.kinds[i] == DIRECTIVE:
                self._branch(i)
                i += 1
            elif self.kinds[i] == DEFINE:
                i = self._macro(i)
            else:
                self._step(i)
                i += 1

    def _require_shallow(self, depth: int, i: int, what: str) -> None:
        if depth >= DEEPEST:
            raise InputError(f"{self.source.at(self.source.code[i].start)}: {what} nested deeper than {DEEPEST}; is this "
                             f"{self.source.language.name}?")

    def _branch(self, i: int) -> None:
        """Scopes are those before `#if` again in each branch, and those of the last branch after it."""
        match = CONDITION.match(self.words[i])
        if match is None:
            return
        if match[1] in ("if", "ifdef", "ifndef"):
            self._require_shallow(len(self.branches), i, "#if")
            self.branches.append([scope.copy() for scope in self.scopes])
        elif self.branches and match[1] == "endif":
            self.branches.pop()
        elif self.branches:
            self.scopes = [scope.copy() for scope in self.branches[-1]]

    def _macro(self, i: int) -> int:
        """A `#define`: the token after its line."""
        end = i
        while self.kinds[end] != END:
            end += 1
        name = i + 2
        takes_arguments = self.values.word(name + 1) == "(" and self.source.code[name + 1].start == self.source.code[name].end
        if name + 1 < end and not takes_arguments:
            self._add(name, name + 1, OUTER, ())
        return end + 1

    def _step(self, i: int) -> None:
        scope, word = self.scopes[-1], self.words[i]
        if self.go and scope.kind != LIST and not scope.depth and self.values.is_new_line(i):
            scope.head = []
        if self.kinds[i] not in (WORD, SIGN):
            if not scope.depth:
                self._append(i, scope)
        elif word == scope.closing and not scope.depth:
            closed = self.scopes.pop() if len(self.scopes) > 1 else scope
            if word == "}" and LIST not in (closed.kind, self.scopes[-1].kind):  # after a list the statement goes on
                self.scopes[-1].head = []
        elif word == "{":
            self._require_shallow(len(self.scopes), i, "braces")
            self.scopes.append(self._opened(i, scope))
        elif word == "(" and self.go and self.words[i - 1:i] in (["const"], ["var"]):
            self.scopes.append(_Scope(scope.kind, scope.name, ")"))
            scope.head = []
            self.scopes[-1].head = []
        elif word in "([":
            if word == "(" and not scope.depth and scope.kind == LIST:  # the fields of a call: `Params(tempo: 15)`
                self._append(i, scope)
            scope.depth += 1
        elif word in ")]":
            scope.depth = max(0, scope.depth - 1)
            if not scope.depth:
                self._append(i, scope)
        elif scope.depth:
            return
        elif word == ";" or word == "," and scope.kind in (LIST, ENUM):
            scope.head = []
        elif word == "," and not self.typed_after and (head := self._head(scope))[:1] != ["template"] and "=" in head:
            # the next name of `int a[2] = {1, 2}, b = 3;` has the same type before it
            del scope.head[max((k for k in range(head.index("=")) if self.kinds[scope.head[k]] == WORD), default=0):]
        else:
            if word == "=":
                self._assigned(i, scope)
            elif word == ":" and self.typed_after and scope.kind == LIST:
                self._field(i, scope)
            self._append(i, scope)

    def _append(self, i: int, scope: _Scope) -> None:
        if len(scope.head) < LONGEST_HEAD:
            scope.head.append(i)

    def _head(self, scope: _Scope) -> list[str]:
        return [self.words[k] for k in scope.head]

    def _opened(self, i: int, parent: _Scope) -> _Scope:
        """The scope that a brace opens, by the statement before it."""
        head, before = self._head(parent), self.words[i - 1] if i else ""
        if parent.kind == LIST:
            return _Scope(LIST, self._item_name(parent))
        if "=" in head or "return" in head and before != ")":
            return _Scope(FUNCTION if before in (")", "=>") else LIST, self._defined(parent))
        if FUNCTION_WORDS & set(head) or before == ")" or parent.depth:
            return _Scope(FUNCTION)
        if "enum" in head:
            return _Scope(ENUM, self._after_last(head, {"enum", "class", "struct"}))
        if TYPES & set(head):
            return _Scope(OUTER, self._after_last(head, TYPES))
        if self.kinds[i - 1:i] == [WORD] and before[:1].isupper() and self.typed_after or before == "!":  # Params { tempo: 15 }
            return _Scope(LIST, before if before != "!" else self.words[i - 2])
        if self.source.language.macros and self._braced(i, parent, head):
            return _Scope(LIST, self._defined(parent))
        if self.values.word(i + 1) in ACCESSORS and self.source.language.raw == "csharp":
            return _Scope(LIST)  # a property, whose value may follow: `public int Tempo { get; set; } = 15;`
        return _Scope(FUNCTION if parent.kind == FUNCTION or ")" in head or before == "static" else OUTER)

    def _braced(self, i: int, parent: _Scope, head: list[str]) -> bool:
        """A definition of C++ without `=`: `constexpr Score Tempo{20, 10};`, `int Bonus[2]{1, 2};`."""
        name = self._name_before(i)
        words = [k for k in parent.head if self.kinds[k] == WORD]
        if name is None or len(words) < 2 or parent.kind == FUNCTION and not CONSTANT & set(head):
            return False
        self._add(name, i, parent.kind, self._names(), parent.head)
        return True

    def _after_last(self, head: list[str], keywords: set[str]) -> str:
        places = [k for k, word in enumerate(head[:-1]) if word in keywords]
        return next((word for word in head[places[-1] + 1:] if word[:1].isalpha() or word[:1] == "_"), "") if places else ""

    def _item_name(self, scope: _Scope) -> str:
        """The name of an item of a list: `.knight = {`, `Knight: {`."""
        places = [k for k in scope.head if self.kinds[k] == WORD]
        return self.words[places[0]] if places and {":", "="} & set(self._head(scope)) else ""

    def _defined(self, scope: _Scope) -> str:
        """The name that a statement defines, for the lists in its value."""
        if self.found and scope.head and self.found[-1].start >= self.source.code[scope.head[0]].start:
            return self.found[-1].name
        return ""

    def _names(self) -> tuple[str, ...]:
        return tuple(scope.name for scope in self.scopes if scope.name)

    def _name_before(self, i: int) -> int | None:
        """The token of the name before token i, over brackets: `int Bonus[2][64] =`."""
        k = i - 1
        while k > 0 and self.words[k] == "]":
            k = self.values.openings.get(k, 0) - 1
        return k if k >= 0 and self.kinds[k] == WORD else None

    def _assigned(self, i: int, scope: _Scope) -> None:
        """A name before `=`."""
        if len(scope.head) == LONGEST_HEAD:
            return
        head = self._head(scope)
        words = [k for k in scope.head if self.kinds[k] == WORD]
        if not words or "operator" in head or head[0] == "template" and ">" not in head:
            return
        name: int | None
        if self.typed_after and scope.kind not in (ENUM,):
            plain = [k for k in words if self.words[k] not in (*CONSTANT, "pub", "let", "var", "mut", "ref", "crate")]
            if not plain or self.go and "," in head:
                return
            colon = next((k for k in scope.head if self.words[k] == ":"), None)
            name = plain[0] if self.go or colon is None else max((k for k in plain if k < colon), default=plain[0])
        else:
            name = words[-1] if self.words[i - 1] == "}" else self._name_before(i)
        if name is None or scope.kind == FUNCTION and not CONSTANT & set(head):
            return
        alone = name == scope.head[0] and not self.go
        if alone and scope.kind not in (LIST, ENUM):
            return
        scopes = self._names()
        if self.words[name - 1] in ("::", ".") and name >= 2 and self.kinds[name - 2] == WORD and scope.kind != LIST:
            scopes = (*scopes, self.words[name - 2])  # int Params::tempo = 15;
        self._add(name, i + 1, scope.kind, scopes, scope.head)

    def _field(self, i: int, scope: _Scope) -> None:
        """A field of a literal: `tempo: 15`; not that of a macro, `tempo: i32 = 15`, whose value comes after `=`."""
        name = i - 1
        if self.kinds[name] != WORD or not scope.head or len([k for k in scope.head if self.kinds[k] in (WORD, NUMBER)]) > 2:
            return
        if self.kinds[i + 1:i + 2] == [WORD] and self.values.word(i + 2) == "=":
            return
        self._add(name, i + 1, scope.kind, self._names())

    def _add(self, name: int, value: int, kind: str, scopes: tuple[str, ...], head: Sequence[int] = ()) -> None:
        """Note a definition by the tokens of its name, of its value, and of its statement before the value."""
        node, _ = self.values.node(value)
        text = self.words[name].removeprefix("r#").lstrip("@")
        self.found.append(Definition(text, self.source.code[name].start, node, self.source, scopes, kind,
                                     (*(self.words[k] for k in head if k < name),
                                      *self.words[name:min(value, name + LONGEST_HEAD)])))
