"""Arrays like those of CuPy: on another device, so that they never mix with arrays of NumPy unless
asked to."""

import numpy as np


class Strict(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that refuses to meet one of NumPy; numbers are welcome."""

    def __init__(self, held: np.ndarray) -> None:
        self.held = held

    shape = property(lambda self: self.held.shape)
    dtype = property(lambda self: self.held.dtype)
    T = property(lambda self: Strict(self.held.T))

    def get(self) -> np.ndarray:
        return self.held.copy()

    def __len__(self) -> int:
        return len(self.held)

    def __float__(self) -> float:
        return float(self.held)

    def __getitem__(self, key):
        return Strict(self.held[_held(key)])

    def __setitem__(self, key, values) -> None:
        self.held[_held(key)] = _held(values)

    def __getattr__(self, name: str):
        if name not in ("sum", "astype", "reshape", "ravel"):
            raise AttributeError(name)
        method = getattr(self.held, name)
        return lambda *given, **named: Strict(np.asarray(method(*given, **named)))

    def __array_ufunc__(self, function, method, *given, **named):
        return Strict(getattr(function, method)(*map(_held, given), **named))

    def __array_function__(self, function, kinds, given, named):
        parts = (
            ([_held(each) for each in given[0]],)
            if isinstance(given[0], list)
            else tuple(map(_held, given))
        )
        if function is np.split:
            parts = (parts[0], given[1])
        found = function(*parts, *given[len(parts) :], **named)
        return [Strict(each) for each in found] if isinstance(found, list) else Strict(found)


def _held(value):
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of NumPy among arrays of the device")
    if isinstance(value, tuple):
        return tuple(map(_held, value))
    return value.held if isinstance(value, Strict) else value


class StrictArrays:
    """The functions of the module that are used."""

    def __getattr__(self, name: str):
        function = getattr(np, name)
        if name == "asarray":
            return lambda values, kind=None: (
                values if isinstance(values, Strict) else Strict(np.array(values, kind))
            )
        return lambda *given, **named: Strict(function(*map(_held, given), **named))
