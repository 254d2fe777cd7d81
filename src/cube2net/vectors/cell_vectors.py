"""Vectors of cells, from the words of their labels or from their members."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from cube2net._util.arrays import Array
from cube2net._util.progress import one_thread
from cube2net._util.random import stream
from cube2net._util.zip_files import RATIO, TOTAL, UnpackLimits
from cube2net.errors import ParameterError, SourceError, first_line, join_names, unknown_name
from cube2net.model.corpus import NO_TEXT
from cube2net.model.cube import Cube
from cube2net.model.interfaces import CellEmbedder, NodeEmbedder, make_object
from cube2net.model.vectors import Vectors
from cube2net.vectors.glove import WordTable, load_default_words, read_words

if TYPE_CHECKING:
    import scipy.sparse as sp

OVERSAMPLING = 16
# So many rows are held in double precision at once.
ROWS_PER_BLOCK = 1 << 16
SCALES = ("blocks", "none")

SMALL_WORDS = """
    a about above after again against all also although am among an and any are as at be because been before being
    below between both but by can cannot could did do does doing down during each either else ever every few for from
    further had has have having he her here hers herself him himself his how however i if in into is it its itself just
    me more most my myself neither no nor not now of off on once only onto or other others our ours ourselves out over
    own per same shall she should since so some such than that the their theirs them themselves then there these they
    this those though through to too toward towards under until up upon us very via was we were what when where whether
    which while who whom whose why will with within without would yet you your yours yourself yourselves
"""
STOP_WORDS = frozenset(SMALL_WORDS.split())
COMPILING = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
PIECE = re.compile(r"[^\W_]+")
DECADE = re.compile(r"([12]\d{2})(?:X|0s)", re.IGNORECASE)
SPAN = re.compile(r"([12]\d{3})\s*[-–—]\s*([12]\d{3})")
MAX_SPAN_YEARS = 200
COLUMNS = ("label", "full_name")


@dataclass(frozen=True, kw_only=True)
class MemberVectors:
    """Cell vectors from the truncated SVD of the cell–object matrix, X ≈ U Σ Vᵀ: normalised rows of U Σ.

    An object has the weight log(1 + cells / its cells), and every row of X has length 1, so the product of two vectors
    approximates the cosine of the cells' members. ``rounds`` is the number of subspace iterations: more come closer to
    the true SVD, which is not always the better predictor.
    """

    dims: int = 64
    rounds: int = 3

    def __post_init__(self) -> None:
        for name in ("dims", "rounds"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected 1 or more")

    def embed_cells(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return the vectors of the cube's cells, with at most as many columns as there are cells."""
        dims = min(self.dims, len(cube.cells), len(cube.objects))
        values = _compute_left_svd(_make_matrix(cube), dims, self.rounds, stream(seed, "embed", "members"))
        lengths = np.sqrt(np.einsum("ij,ij->i", values, values, dtype=np.float64))[:, None]
        return Vectors(values / np.where(lengths > 0, lengths, 1.0), (0, dims), ("members",))


def _make_matrix(cube: Cube) -> sp.csr_array:
    """Return the weighted cell–object matrix, every row of length 1."""
    import scipy.sparse as sp

    members = cube.cells.members
    cells, objects = len(cube.cells), len(cube.objects)
    homes = np.bincount(members.indices, minlength=objects)
    weights = np.log1p(cells / np.maximum(homes, 1))[members.indices]
    rows = np.repeat(np.arange(cells), members.sizes)
    lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=cells))
    data = (weights / lengths[rows]).astype(np.float32)
    return sp.csr_array((data, members.indices, members.indptr), shape=(cells, objects))


def _compute_left_svd(matrix: sp.csr_array, dims: int, rounds: int, rng: np.random.Generator) -> Array:
    """Return U Σ of the largest ``dims`` singular values, by subspace iteration from a random start.

    Dense algebra runs on one thread, so the result does not depend on the number of threads. The entry of largest
    magnitude in every column is positive.
    """
    import scipy.sparse as sp

    if dims == 0:
        return np.zeros((matrix.shape[0], 0), dtype=np.float32)
    turned = sp.csr_array(matrix.T)
    width = min(dims + OVERSAMPLING, *matrix.shape)
    basis = rng.standard_normal((matrix.shape[0], width), dtype=np.float32)
    with one_thread():
        for _ in range(rounds):
            basis = matrix @ (turned @ basis)
            for _ in range(2):
                squares, axes = _compute_axes(basis)
                basis = _multiply(basis, axes * _invert_roots(squares))
        squares, axes = _compute_axes(turned @ basis)
        values = _multiply(basis, axes[:, :dims] * np.sqrt(np.maximum(squares[:dims], 0.0)))
    signs = np.sign(values[np.abs(values).argmax(axis=0), np.arange(dims)])
    result: Array = values * np.where(signs == 0, 1, signs).astype(np.float32)
    return result


def _compute_axes(tall: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of ``tallᵀ tall``, largest first, and its eigenvectors as columns, in double precision."""
    products = np.zeros((tall.shape[1],) * 2)
    for start in range(0, len(tall), ROWS_PER_BLOCK):
        rows = tall[start : start + ROWS_PER_BLOCK].astype(np.float64)
        products += rows.T @ rows
    squares, axes = np.linalg.eigh(products)
    return squares[::-1], axes[:, ::-1]


def _multiply(tall: Array, matrix: Array) -> Array:
    """Return ``tall @ matrix`` in single precision, summed in double."""
    out = np.empty((len(tall), matrix.shape[1]), dtype=np.float32)
    for start in range(0, len(tall), ROWS_PER_BLOCK):
        out[start : start + ROWS_PER_BLOCK] = tall[start : start + ROWS_PER_BLOCK].astype(np.float64) @ matrix
    return out


def _invert_roots(squares: Array) -> Array:
    """Return 1 / √x, and 0 for values that are only rounding errors."""
    real = squares > 1e-12 * max(float(squares[0]), 1e-300)
    return np.where(real, 1 / np.sqrt(np.where(real, squares, 1.0)), 0.0)


@dataclass(frozen=True, kw_only=True)
class WordVectors:
    """Cell vectors from the words of labels, concatenated over the dimensions: u_c = [u_l1, u_l2, …].

    Parameters
    ----------
    words
        A table of word vectors or a file in GloVe's format. None is the table of the package.
    names
        Full names of labels and acronyms, a mapping or a CSV file with ``label`` and ``full_name``; they take
        precedence over the cube's full names.
    stop_words
        Words that count as zero.
    scale
        ``"blocks"`` gives every dimension's block the same mean length over the cells; otherwise a decade, a sum of
        ten years, outweighs the rest. ``"none"`` is the paper's.
    max_ratio, max_unpacked
        Limits of a compressed file of words.
    """

    words: WordTable | str | Path | None = None
    names: Mapping[str, str] | str | Path | None = None
    stop_words: frozenset[str] = STOP_WORDS
    scale: str = "blocks"
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if self.scale not in SCALES:
            raise unknown_name("scale", self.scale, SCALES)

    def embed_cells(self, cube: Cube, *, seed: int = 0) -> Vectors:
        """Return the vectors of the cube's cells; ``seed`` has no effect."""
        table = self._table()
        names = read_names(self.names) if isinstance(self.names, str | Path) else self.names
        tables: list[tuple[str, Array]] = []
        blank: dict[str, tuple[str, ...]] = {}
        lost: Counter[str] = Counter()
        for i, dimension in enumerate(cube.dimensions):
            embedded = embed_labels(
                dimension.labels, table, full_names=dimension.full_names, names=names, stop_words=self.stop_words
            )
            scale = _compute_mean_length(embedded.values, cube.cells.labels[:, i]) if self.scale == "blocks" else 1.0
            tables.append((dimension.name, embedded.values / np.float32(scale)))
            lost.update(embedded.unknown)
            if embedded.blank:
                blank[dimension.name] = blank.get(dimension.name, ()) + embedded.blank
        return Vectors.product(tables, cube.cells.labels, blank=blank, unknown=dict(lost.most_common()))

    def _table(self) -> WordTable:
        if self.words is None:
            return load_default_words()
        if isinstance(self.words, WordTable):
            return self.words
        return read_words(self.words, max_ratio=self.max_ratio, max_unpacked=self.max_unpacked)


def _compute_mean_length(values: Array, labels: Array) -> float:
    """Return the mean length of the cells' vectors in a block, without zero vectors such as that of ∗."""
    lengths = np.linalg.norm(values.astype(np.float64), axis=1)[labels[labels >= 0]]
    lengths = lengths[lengths > 0]
    return float(lengths.mean()) if len(lengths) else 1.0


@dataclass(frozen=True, eq=False)
class LabelVectors:
    """One vector per label, the labels with a zero vector, and the number of labels with each unknown word."""

    values: Array
    blank: tuple[str, ...]
    unknown: Mapping[str, int]


def embed_labels(
    labels: Sequence[str],
    table: WordTable,
    *,
    full_names: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    stop_words: Collection[str] = STOP_WORDS,
) -> LabelVectors:
    """Return the vector of every label: the sum over its words, zero for stop words and unknown words.

    A label is replaced by its entry in ``names``, else by its full name, and ``names`` also replaces single words. A
    decade is the sum of its ten years, a span of years the sum of these. A label whose full name has no known word is
    read as it is; if it has none either, its vector is zero, as is that of "no text".

    >>> table = WordTable(pa.array(["data", "mining", "2016", "2017"]), np.array([[1, 0], [0, 1], [2, 0], [3, 0]]))
    >>> found = embed_labels(["data mining", "2016–2017", "KDD", "??"], table, names={"kdd": "mining of the data"})
    >>> found.values.tolist(), found.blank
    ([[1.0, 1.0], [5.0, 0.0], [1.0, 1.0], [0.0, 0.0]], ('??',))
    """
    written = {key.casefold(): text for key, text in (names or {}).items()}
    words = []
    for label, full in zip(labels, full_names or labels, strict=True):
        written_name = written.get(label.casefold())
        words.append(
            [_split_label(written_name) if written_name else _split_label(full or label, written), _split_label(label)]
        )
    meaning = _look_up_words(table, {word for pair in words for text in pair for word in text}, stop_words)
    values = np.zeros((len(labels), table.width), dtype=np.float32)
    blank, unknown = [], Counter[str]()
    for i, pair in enumerate(words):
        readings = [[meaning[word].vector for word in text if meaning[word].known] for text in pair]
        word_vectors = readings[0] or readings[1]
        unknown.update({lost for word in pair[0] for lost in meaning[word].unknown})
        if word_vectors and labels[i] != NO_TEXT:
            values[i] = np.sum(word_vectors, axis=0)
        else:
            blank.append(labels[i])
    return LabelVectors(values, tuple(blank), dict(unknown.most_common()))


def read_names(path: str | Path) -> dict[str, str]:
    """Return the full names of labels from a CSV file with the columns ``label`` and ``full_name``."""
    try:
        rows = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.string())))
    except (OSError, pa.ArrowInvalid) as error:
        raise SourceError(f"cannot read the full names in {str(path)!r}: {first_line(error)}") from error
    missing = [name for name in COLUMNS if name not in rows.column_names]
    if missing:
        raise SourceError(
            f"{str(path)!r} has the columns {join_names(rows.column_names)}, expected label and full_name"
        )
    return dict(zip(rows["label"].to_pylist(), rows["full_name"].to_pylist(), strict=True))


def _split_label(text: str, written: Mapping[str, str] | None = None) -> list[str]:
    """Return the words of a label, with years, decades and acronyms written out."""
    text = unicodedata.normalize("NFKC", text).strip()
    if decade := DECADE.fullmatch(text):
        return [f"{decade[1]}{year}" for year in range(10)]
    if (span := SPAN.fullmatch(text)) and 0 <= int(span[2]) - int(span[1]) < MAX_SPAN_YEARS:
        return [str(year) for year in range(int(span[1]), int(span[2]) + 1)]
    words = COMPILING.findall(text)
    if written:
        words = [part for word in words for part in COMPILING.findall(written.get(word.casefold(), word))]
    return words


@dataclass(frozen=True, eq=False)
class _Meaning:
    """The vector of a word or of its pieces, whether any piece is known, and the unknown pieces."""

    vector: Array
    known: bool
    unknown: tuple[str, ...] = ()


def _look_up_words(table: WordTable, words: Collection[str], stop_words: Collection[str]) -> dict[str, _Meaning]:
    """Return the vector of every word in lower case or as written, or else of its pieces between hyphens."""
    stops = {word.casefold() for word in stop_words}
    spelled = {word: (word.lower(), word, f"{word.lower()}.") for word in sorted(words)}
    pieces = {
        word: [one for one in PIECE.findall(lower) if one not in stops and (len(one) > 1 or one == lower)]
        for word, (lower, *_) in spelled.items()
    }
    wanted = sorted({one for word in spelled for one in (*spelled[word], *pieces[word])})
    there = dict(zip(wanted, (table.rows(wanted) >= 0).tolist(), strict=True))
    vector = dict(zip(wanted, table.vectors(wanted), strict=True))
    nothing = np.zeros(table.width, dtype=np.float32)
    meanings = {}
    for word, spellings in spelled.items():
        if spellings[0] in stops:
            meanings[word] = _Meaning(nothing, False)
        elif whole := [one for one in spellings if there[one]]:
            meanings[word] = _Meaning(vector[whole[0]], True)
        else:
            total = np.sum([nothing, *(vector[one] for one in pieces[word])], axis=0)
            lost = tuple(one for one in pieces[word] if not there[one])
            meanings[word] = _Meaning(total, len(lost) < len(pieces[word]), lost)
    return meanings


VECTORS = {"words": WordVectors, "members": MemberVectors}
"""The ways to make vectors of cells, by name."""


def embed_cells(cube: Cube, vectors: str | CellEmbedder = "words", *, seed: int = 0, **options: Any) -> Vectors:
    """Return a vector for each cell, from the words of its labels or from its members."""
    if isinstance(vectors, NodeEmbedder) and not isinstance(vectors, CellEmbedder):
        raise ParameterError(
            f"a kind of vectors has the method embed_cells(cube, seed=...), got {vectors!r} with embed, that of "
            "an embedding of nodes: rename the method if it embeds cells"
        )
    maker: CellEmbedder = make_object(vectors, VECTORS, CellEmbedder, "kind of vectors", options)
    return maker.embed_cells(cube, seed=seed)
