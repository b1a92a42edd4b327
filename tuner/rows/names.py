"""Names of columns in files of rows: fields of a position, and numbers of the evaluation such as `pawns.passed[3]`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from games.streams import InputError
from tuner.io.text import one_line
from tuner.parameters.layout import Layout, Place

FIELDS = ("fen", "game", "opening", "result", "eval", "score", "phase", "rest", "scale")
DEFAULT_TERM = "rows"  # of names without a term, where there is no parameter file
LABEL = re.compile(r"(?:(\w+)\.)?(\w+)((?:\[\d{1,6}\])*)")
MOST_COLUMNS = 1 << 20  # of a layout that is made from rows
LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """Return a value from a file for an error message: on one line, shortened."""
    text = one_line(value if isinstance(value, str) else repr(value))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


class Names:
    """The columns of a layout by the names that rows use: `term.name[i]`, or `name[i]` where one term alone has that name."""

    def __init__(self, layout: Layout) -> None:
        self.labels = layout.labels()
        self.columns = {label: column for column, label in enumerate(self.labels)}
        terms: dict[str, set[str]] = {}
        for place in layout.places:
            terms.setdefault(place.name, set()).add(place.term)
        self.ambiguous = {name: sorted(found) for name, found in terms.items() if len(found) > 1}
        self.columns |= {label.partition(".")[2]: column for column, label in enumerate(self.labels)
                         if label.partition(".")[2].partition("[")[0] not in self.ambiguous}

    def unknown(self, name: str, fields: Iterable[str] = ()) -> str:
        """Say that a name is neither a column of the layout nor one of these fields, and which names are near."""
        bare = name.partition("[")[0]
        if bare in self.ambiguous:
            return f"{shown(name)!r} is in several terms; write {' or '.join(f'{term}.{bare}' for term in self.ambiguous[bare])}"
        near = get_close_matches(name[:200], [*fields, *self.columns], 2, 0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return f"{shown(name)!r} is not a number of the parameter file{hint or '; correct the name, or add it to the file'}"


def layout_of_names(names: Iterable[str], source: str) -> Layout:
    """Return the layout that names such as `term.name[i][j]` make up, in the order of their first occurrence.

    A name without a term belongs to the term `rows`. Arrays begin at 0. InputError for names of other forms.
    """
    shapes: dict[tuple[str, str], tuple[int, ...]] = {}
    for name in names:
        found = LABEL.fullmatch(name)
        if not found or not (found[1] or DEFAULT_TERM).isidentifier() or not found[2].isidentifier():
            raise InputError(f"{source}: the name {shown(name)!r}; expected the form term.name or term.name[index]; rename it")
        key = found[1] or DEFAULT_TERM, found[2]
        place = tuple(int(index) for index in re.findall(r"\d+", found[3]))
        shape = shapes.setdefault(key, (0,) * len(place))
        if len(shape) != len(place):
            raise InputError(f"{source}: {'.'.join(key)} has {_indices(len(place))} in {shown(name)!r} and "
                             f"{_indices(len(shape))} elsewhere; expected as many in each row; rename one of them")
        shapes[key] = tuple(max(most, index + 1) for most, index in zip(shape, place, strict=True))
    # names of one term follow each other
    terms = {term: i for i, term in reversed(list(enumerate(term for term, _ in shapes)))}
    places, first = [], 0
    for (term, name), shape in sorted(shapes.items(), key=lambda item: terms[item[0][0]]):
        places.append(Place(term, name, shape, first))
        first += places[-1].size
        if first > MOST_COLUMNS:
            raise InputError(f"{source}: {term}.{name} has the shape {list(shape)}, which makes more than {MOST_COLUMNS:,} "
                             "numbers in all; expected indices that begin at 0; renumber them")
    if not places:
        raise InputError(f"{source}: no counts; expected rows that count something; give at least one named column")
    return Layout(tuple(places))


def _indices(number: int) -> str:
    return f"{number} {'index' if number == 1 else 'indices'}" if number else "no index"
