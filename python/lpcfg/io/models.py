"""Load and save models of all kinds.

The formats are listed here by the names of their modules, and imported when they are needed,
because the packages that define them import this one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar, Unpack, overload

from lpcfg.errors import InputError, ModelFileError, NotAModelError
from lpcfg.io.formats import FileFormat, FolderFormat, Resources, make_folder
from lpcfg.io.model_file import ModelFile, open_model_file, read_document, with_article

__all__ = ["FOLDER", "StoredModel", "check_savable", "examine", "load", "save"]

Model = TypeVar("Model")

#: The kind of a folder of separate model files.
FOLDER = "folder of models"

#: The formats by kinds of models: the ``"kind"`` in the document of a file.
_FORMATS = {
    "grammar": "lpcfg.grammar._file:GRAMMAR_FORMAT",
    "tagger": "lpcfg.sequence._tagger_file:TAGGER_FORMAT",
    "hidden Markov model": "lpcfg.sequence._hmm_file:HMM_FORMAT",
    "spectral hidden Markov model": "lpcfg.sequence._hmm_file:SPECTRAL_HMM_FORMAT",
    "aggregate bigram model": "lpcfg.lm._file:AGGREGATE_BIGRAM_FORMAT",
    "word clusters": "lpcfg.lexicon._word_clusters_file:WORD_CLUSTERS_FORMAT",
    "ensemble": "lpcfg.parsing._ensemble_file:ENSEMBLE_FORMAT",
    "reranker": "lpcfg.reranking._file:RERANKER_FORMAT",
}

#: The kinds that are folders, each with a main file that is called ``<kind>.lpcfg``.
_FOLDER_KINDS = ("reranker", "ensemble")

#: The kinds of models by their classes.
_KINDS = {
    "lpcfg.grammar.grammar:Grammar": "grammar",
    "lpcfg.sequence.tagger:Tagger": "tagger",
    "lpcfg.sequence.hmm:HMM": "hidden Markov model",
    "lpcfg.sequence.spectral_hmm:SpectralHMM": "spectral hidden Markov model",
    "lpcfg.lm.aggregate_bigram:AggregateBigram": "aggregate bigram model",
    "lpcfg.lexicon.word_clusters:WordClusters": "word clusters",
    "lpcfg.parsing.ensemble:Ensemble": "ensemble",
    "lpcfg.reranking.reranker:Reranker": "reranker",
}


@dataclass(frozen=True)
class StoredModel:
    """A model on disk: its kind, and its files, opened and validated.

    ``path``: the file or the folder.
    ``kind``: the kind of model, or :data:`FOLDER` for a folder of model files.
    ``files``: the file; the main file of a reranker or an ensemble; all files of other folders.

    >>> examine("english").kind
    'grammar'
    """

    path: Path
    kind: str
    files: tuple[ModelFile, ...]

    @property
    def provenance(self) -> dict[str, Any]:
        """The provenance of the model, without loading the rest of it; empty if there is none.

        >>> examine("english").provenance["estimator"]
        'neural'
        """
        provenance: dict[str, Any] = read_document(self.files[0], {}).get("provenance", {})
        return provenance

    def load(self, **resources: Unpack[Resources]) -> Any:  # noqa: ANN401 - as load
        """Load the model; a folder of models gives a list.

        ``resources``: memory, time, threads and dependencies for the parsers of rerankers and
        ensembles.

        >>> len(examine("english").load().symbols) > 100
        True
        """
        if self.kind == FOLDER:
            return [part.load() for part in self.parts()]
        if self.kind not in _FORMATS:
            raise ModelFileError(
                f"holds {with_article(self.kind)}, which cannot be loaded", path=self.path
            )
        model_format = _resolve(_FORMATS[self.kind])
        if self.kind in _FOLDER_KINDS:
            return model_format.load(self.files[0], resources)
        return model_format.load(self.files[0])

    def parts(self, *kinds: str) -> list[StoredModel]:
        """The models of a folder one by one; with ``kinds``, all must be of one of these kinds.

        >>> len(examine("english").parts("grammar"))
        1
        """
        parts = [_stored_file(Path(file.path), file) for file in self.files]
        for part in parts:
            if kinds:
                part.expect(*kinds)
        return parts

    def expect(self, *kinds: str) -> None:
        """Raise a :class:`~lpcfg.errors.ModelFileError` unless the model is of one of the kinds.

        >>> examine("english").expect("tagger")
        Traceback (most recent call last):
        lpcfg.errors.ModelFileError: ...english.lpcfg: holds a grammar, not a tagger
        """
        if self.kind not in kinds:
            expected = " or ".join(map(with_article, kinds))
            raise ModelFileError(f"holds {with_article(self.kind)}, not {expected}", path=self.path)


def examine(path: str | PathLike[str]) -> StoredModel:
    """Open a path and determine its kind of model, without loading the model.

    A name that is not a path is looked up among the models that come with the package.

    >>> examine("missing.lpcfg")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    path = _existing(path)
    if not path.is_dir():
        return _stored_file(path, open_model_file(path))
    for kind in _FOLDER_KINDS:
        if (main_file := path / f"{kind}.lpcfg").is_file():
            return StoredModel(path, kind, (open_model_file(main_file),))
    files = tuple(_model_files(path))
    if not files:
        raise NotAModelError("there are no model files in this folder", path=path)
    return StoredModel(path, FOLDER, files)


def _stored_file(path: Path, file: ModelFile) -> StoredModel:
    kind: str = read_document(file, {"kind": str})["kind"]
    if kind in _FOLDER_KINDS:
        raise ModelFileError(
            f"holds only a part of {with_article(kind)}; name the folder that it is in", path=path
        )
    return StoredModel(path, kind, (file,))


def _existing(path: str | PathLike[str]) -> Path:
    if not fspath(path):
        # An empty path would be the working folder.
        raise InputError("the path of a model must not be empty", argument="path")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InputError(f"not a path: {error}", argument="path") from None
    file = Path(path)
    if not file.exists():
        embedded: dict[str, Path] = _resolve("lpcfg.datasets.embedded:embedded_models")()
        return embedded.get(str(path), file)
    return file


def _model_files(folder: Path) -> list[ModelFile]:
    """The model files in a folder, in the order of their names; hidden files are left out."""
    files = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_dir():
            continue
        try:
            files.append(open_model_file(path))
        except NotAModelError:
            # A damaged model must not be ignored: the others would be used without it.
            if path.suffix == ".lpcfg":
                raise ModelFileError(
                    "this is no model file; remove it or train it again", path=path
                ) from None
    return files


@overload
def load(path: str | PathLike[str]) -> Any: ...  # noqa: ANN401 - known once it is loaded


@overload
def load(path: str | PathLike[str], expected: type[Model]) -> Model: ...


def load(path: str | PathLike[str], expected: type[Model] | None = None) -> Model | Any:
    r"""Load a model of any kind: a grammar, tagger, HMM, language model, ensemble or reranker.

    ``path``: a file or a folder that :func:`save` or a command wrote, or the name of a model that
    comes with the package (``"english"``). A folder of model files gives a list of models.
    ``expected``: the class that the model must have; None (the default) for any.

    To load a parser, use :meth:`lpcfg.Parser.load`.

    >>> import tempfile, pathlib
    >>> from lpcfg import Grammar
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "weather.lpcfg")
    ...     save(grammar, path)
    ...     print(*load(path).symbols)
    S NP VP
    """
    stored = examine(path)
    if expected is not None:
        stored.expect(_kind_of(expected) or expected.__name__)
    return stored.load()


def save(model: object, path: str | PathLike[str]) -> None:
    r"""Save a model of any kind; :func:`load` reads it.

    A grammar, tagger, hidden Markov model or language model becomes a file, and an existing file is
    replaced once everything is written. An ensemble, a reranker or a list of models becomes a
    folder, which must be new or empty. For a :class:`~lpcfg.Parser`, only the grammars are saved:
    its options are chosen when it is loaded. For a fitted estimator, its grammar is saved.

    ``model``: a grammar, a parser, an ensemble, a reranker, a tagger or another model. ``path``:
    the file to write, or the folder of models that have several files.

    >>> import tempfile, pathlib
    >>> from lpcfg import Ensemble, Grammar, Parser
    >>> grammar = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Ensemble([grammar, grammar], combine="trees"), folder)
    ...     load(folder).combine
    'trees'
    """
    check_savable(model)
    model = _stored_part(model)
    if isinstance(model, Sequence):
        folder = make_folder(path)
        for number, part in enumerate(model, start=1):
            save(part, folder / f"{number}.lpcfg")
    else:
        _format_of(model).save(model, path)


def check_savable(model: object) -> None:
    """Raise an :class:`~lpcfg.errors.InputError` if a model, or a part of it, cannot be saved.

    >>> check_savable("a string")
    Traceback (most recent call last):
    lpcfg.errors.InputError: model: a str cannot be saved
    """
    model = _stored_part(model)
    if isinstance(model, Sequence) and not isinstance(model, str):
        parts = model
    else:
        model_format = _format_of(model)
        parts = model_format.parts(model) if isinstance(model_format, FolderFormat) else ()
    for part in parts:
        check_savable(part)


def _stored_part(model: object) -> object:
    """The object to save: the grammar or grammars of a parser or of a fitted estimator."""
    if _kind_of(type(model)) is not None:
        return model
    grammars = getattr(model, "grammars", None)
    if grammars is not None:
        return grammars[0] if len(grammars) == 1 else grammars
    return getattr(model, "grammar_", model)


def _format_of(model: object) -> FileFormat[Any] | FolderFormat[Any]:
    kind = _kind_of(type(model))
    if kind is None:
        raise InputError(f"a {type(model).__name__} cannot be saved", argument="model")
    model_format: FileFormat[Any] | FolderFormat[Any] = _resolve(_FORMATS[kind])
    return model_format


def _kind_of(model: type) -> str | None:
    names = (f"{base.__module__}:{base.__qualname__}" for base in model.__mro__)
    return next((_KINDS[name] for name in names if name in _KINDS), None)


def _resolve(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    module, attribute = name.split(":")
    return getattr(import_module(module), attribute)
