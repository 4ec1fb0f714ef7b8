"""What coldlink raises, with what to do about it, and the warning it gives."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Anything that coldlink finds wrong.

    `message` says what, `hint` what to do about it, `path` and `line` where; all but the first may be `None`.

    >>> try:
    ...     coldlink.read("nowhere")
    ... except coldlink.Error as error:
    ...     print(type(error).__name__, error.message, error.path, sep=", ")
    LoadError, `nowhere` does not exist, nowhere
    """

    message: str
    hint: str | None
    path: str | None
    line: int | None

    def __init__(
        self, message: str, *, hint: str | None = None, path: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.hint, self.path, self.line = message, hint, path, line

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,), self.__dict__


class LoadError(Error, ValueError):
    """Data that cannot be used.

    >>> coldlink.Graph.from_arrays([[0, 5]], [[1.0], [2.0]])
    Traceback (most recent call last):
    ...
    coldlink.errors.LoadError: row 0 of `edges` has node 5, but there are 2 nodes
    hint: nodes are numbered from 0, in the order of the rows of attributes
    """


class ConfigError(Error, ValueError):
    """A setting that does not exist, or a value that it cannot have.

    >>> coldlink.Model(widht=64)
    Traceback (most recent call last):
    ...
    coldlink.errors.ConfigError: there is no setting `widht`
    hint: did you mean `width`?
    """


class ModelFileError(Error):
    """A model's file that cannot be read or written.

    >>> coldlink.load("no.model")
    Traceback (most recent call last):
    ...
    coldlink.errors.ModelFileError: cannot open `no.model`: No such file or directory (os error 2)
    hint: check the path, or make a model with `Model.fit`
    """


class LoadWarning(UserWarning):
    """What you should know about input that was accepted: one warning per call, with all notes.

    `Graph.notes` holds those of a graph. `warnings.simplefilter("ignore", coldlink.LoadWarning)` silences them.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     looped = coldlink.Graph.from_arrays([[0, 1], [1, 1], [1, 0]], [[1.0], [2.0]])
    >>> print(caught[0].category.__name__, caught[0].message, sep=": ")
    LoadWarning: ignored 1 self-loop
    """


class NotFittedError(Error, ValueError, AttributeError):
    """A model that was asked before it was trained.

    >>> coldlink.Model().embed()
    Traceback (most recent call last):
    ...
    coldlink.errors.NotFittedError: this model is not trained yet
    hint: call `fit` with a graph, or `coldlink.load` a trained model
    """
