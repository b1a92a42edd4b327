"""Read the value of a definition as a tree: a number, a list of values, or something else with the reason why it is neither.

Lists are all that engines write: braces, brackets, `S(mg, eg)`, `Score::new(mg, eg)`, `new int[] {…}`, `[2][8]int{…}`, `vec![…]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tuner.export.into.literals import Number, number_of
from tuner.export.into.tokens import DIRECTIVE, END, NUMBER, STRING, WORD, Source

CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
ENDS = (",", ";", ")", "]", "}")
DEEPEST = 64  # lists within lists, casts of casts; C asks 63 of its compilers


@dataclass(frozen=True)
class Items:
    """A list: its values, and for each the text that names it, as in `[KNIGHT] = …`, `.tempo = …`, `tempo: …`, or None.

    `called`: written as a call, `S(1, 2)` or `Score {1, 2}`, or in parentheses.
    """

    values: tuple[Node, ...]
    labels: tuple[str | None, ...]
    called: bool
    start: int


@dataclass(frozen=True)
class Other:
    """What is neither a number nor a list, and why: "an expression", "the name WIDTH"."""

    reason: str
    start: int


Node = Number | Items | Other


def numbers_in(node: Node) -> Iterator[Number]:
    """Yield the numbers of a tree in the order of the source."""
    if isinstance(node, Number):
        yield node
    elif isinstance(node, Items):
        for value in node.values:
            yield from numbers_in(value)


class Values:
    """Reads values from the tokens of a source; positions are indices of `source.code`."""

    def __init__(self, source: Source) -> None:
        self.source, self.words, self.code = source, source.words, source.code
        self.kinds = [token.kind for token in source.code]
        self.depth = 0  # of the value that is being read
        self.closings: dict[int, int] = {}  # for a bracket that opens, the token that closes it
        self.openings: dict[int, int] = {}  # the reverse, of brackets that are closed
        opened: dict[str, list[int]] = {closing: [] for closing in CLOSING.values()}
        for k, word in enumerate(self.words):
            if self.kinds[k] == END:  # of a macro: what is open ends with it
                for unclosed in opened.values():
                    self.closings.update(dict.fromkeys(unclosed, k - 1))
                    unclosed.clear()
            elif word in CLOSING:
                opened[CLOSING[word]].append(k)
            elif opened.get(word):
                self.openings[k] = opened[word].pop()
                self.closings[self.openings[k]] = k

    def word(self, i: int) -> str:
        """The text of a token; nothing beyond the last."""
        return self.words[i] if i < len(self.words) else ""

    def kind(self, i: int) -> str:
        """The kind of a token; END beyond the last."""
        return self.kinds[i] if i < len(self.kinds) else END

    def value(self, i: int, in_list: bool = False) -> tuple[Node, int]:
        """Return the value that begins at token i, and the token after it: one that ends values, or the end of a line."""
        node, after = self.node(i, in_list)
        while not self.ends(after, in_list):
            after = self.matching(after) + 1 if self.word(after) in ("(", "[", "{") else after + 1
        return node, after

    def node(self, i: int, in_list: bool = False) -> tuple[Node, int]:
        """Return the value that begins at token i, and the first token that is not of its number or list."""
        node, after = self._plain(i)
        if self.ends(after, in_list):
            return node, after
        start = self.code[i].start if i < len(self.code) else len(self.source.text)
        if self.kind(after) == DIRECTIVE:
            node = Other("a list with a preprocessor line", start)
        elif not isinstance(node, Other):
            node = Other("an expression", start)
        return node, after

    def ends(self, i: int, in_list: bool) -> bool:
        """Whether no value continues with token i."""
        if self.kind(i) == END or self.word(i) in ENDS:
            return True
        # in Go the end of a line ends a definition, unless the line cannot end there
        return (self.source.language.line_ends and not in_list and self.is_new_line(i)
                and self.word(i - 1) not in ("=", "+", "-", "*", "/", ",", "("))

    def is_new_line(self, i: int) -> bool:
        """Whether token i is on another line than the one before it."""
        return 0 < i < len(self.code) and "\n" in self.source.text[self.code[i - 1].end:self.code[i].start]

    def matching(self, i: int) -> int:
        """Return the token that closes the bracket at token i; the last token if none does."""
        return self.closings.get(i, len(self.words) - 1)

    def _plain(self, i: int) -> tuple[Node, int]:
        """A value without what may follow it."""
        if self.depth == DEEPEST:
            return Other(f"values nested deeper than {DEEPEST}", self.code[min(i, len(self.code) - 1)].start), i
        self.depth += 1
        try:
            return self._begun(i)
        finally:
            self.depth -= 1

    def _begun(self, i: int) -> tuple[Node, int]:
        """The value by its first token."""
        kind, word = self.kind(i), self.word(i)
        start = self.code[i].start if i < len(self.code) else len(self.source.text)
        if kind == END:
            return Other("nothing", start), i
        if word in ("+", "-"):
            if self.kind(i + 1) == NUMBER and not self.source.text[start + 1:self.code[i + 1].start].strip(" \t"):
                return self._number(i + 1, word, start)
            return Other("an expression", start), i + 1
        if kind == NUMBER:
            return self._number(i, "", start)
        if word == "&":  # a reference of Rust
            return self._plain(i + 1 + (self.word(i + 1) == "mut"))
        if word == "[" and self.source.language.line_ends:
            return self._typed(i, start)
        if word == "(" and (after := self._after_cast(i)):
            return self._plain(after)
        if word in ("(", "[", "{"):
            return self._items(i, word == "(")
        if kind == WORD:
            return self._typed(i, start)
        return Other("a string" if kind == STRING else "an expression", start), i + 1

    def _number(self, i: int, sign: str, start: int) -> tuple[Node, int]:
        token = self.code[i]
        found = number_of(self.words[i], sign, start, token.end, self.source.language.octal)
        after = i + 1
        if self.word(after) == "as" and self.kind(after + 1) == WORD:  # 15 as Score
            after += 2
        return (Other(f"a number that cannot be replaced: {found}", start) if isinstance(found, str) else found), after

    def _after_cast(self, i: int) -> int:
        """The token after a cast such as `(int)` or `(Score)`, if a number or a list follows; else 0."""
        end = self.matching(i)
        inside = range(i + 1, end)
        if inside and all(self.kinds[k] == WORD or self.words[k] in ("::", "<", ">", "*") for k in inside) and (
                self.kind(end + 1) == NUMBER or self.word(end + 1) in ("{", "+", "-", "(")):
            return end + 1
        return 0

    def _typed(self, i: int, start: int) -> tuple[Node, int]:
        """A list with a type or a name before it: `S(1, 2)`, `std::array<int, 2>{…}`, `new int[] {…}`, `[2][8]int{…}`."""
        k, is_array = i, False
        while self.kind(k) == WORD or self.word(k) in ("::", ".", "!", "[", "<", "*"):
            if self.word(k) == "[" and self.word(k - 1) == "!":
                break
            if k > i and self.kind(k) == self.kind(k - 1) == WORD and self.words[k - 1] != "new":
                break
            bracketed = self.word(k) in ("[", "<")
            is_array |= bracketed
            k = self.matching(k) + 1 if bracketed else k + 1
        if self.word(k) in ("(", "{", "[") and k > i and (self.word(k) != "[" or self.words[k - 1] == "!"):
            # an array's type says nothing of what its items are
            return self._items(k, self.word(k) != "[" and not is_array)
        return Other(f"the name {self.words[i]}" if self.kind(i) == WORD else "an expression", start), i + 1

    def _items(self, i: int, called: bool) -> tuple[Node, int]:
        """The list in the bracket at token i."""
        end, k = self.matching(i), i + 1
        start = self.code[i].start
        values: list[Node] = []
        labels: list[str | None] = []
        while k < end:
            if self.kind(k) == DIRECTIVE:
                return Other("a list with a preprocessor line", self.code[k].start), end + 1
            label, k = self._label(k)
            value, k = self.value(k, in_list=True)
            if self.word(k) == ";":
                return Other("a list of the form [value; count]", start), end + 1
            values.append(value)
            labels.append(label)
            k += 1  # the comma
        return Items(tuple(values), tuple(labels), called, start), end + 1

    def _label(self, i: int) -> tuple[str | None, int]:
        """What names an item of a list, and the token after it: `[KNIGHT] =`, `.tempo =`, `tempo:`, `Tempo =`, `2:`."""
        if self.word(i) == "[" and self.word((end := self.matching(i)) + 1) == "=":
            return self.source.text[self.code[i].end:self.code[end].start].strip(), end + 2
        if self.word(i) == "." and self.word(i + 2) in ("=", ":"):
            return self.words[i + 1], i + 3
        k = i
        while self.kind(k) == WORD and self.word(k + 1) in (".", "::"):  # Piece.Knight: …
            k += 2
        if self.kind(k) in (WORD, NUMBER) and self.word(k + 1) in (":", "="):
            return self.words[k], k + 2
        return None, i
