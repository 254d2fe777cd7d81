"""A transformer of scikit-learn that embeds the objects of a query by a network around them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cube2net._util.arrays import Array
from cube2net._util.arrow import to_pandas, to_polars
from cube2net._util.text import format_count
from cube2net.api.construct import construct_network, expect_options
from cube2net.api.query import Asked, resolve_query
from cube2net.errors import ParameterError, QueryError, quote_few, unknown_name
from cube2net.mining.downstream import cluster_query as cluster_query
from cube2net.mining.downstream import embed_nodes as embed_nodes
from cube2net.model.cube import Cube
from cube2net.model.interfaces import NodeEmbedder, check_call
from cube2net.model.network import Network
from cube2net.model.query import Query, find_known_rows, find_rows, list_keys, parse_query
from cube2net.options import NetworkOptions
from cube2net.vectors.cell_vectors import embed_cells as embed_cells
from cube2net.vectors.nearest_cells import near_cells as near_cells

if TYPE_CHECKING:
    from sklearn.utils import Tags

OUTPUTS = {"pandas": to_pandas, "polars": to_polars}
PARAMETERS = ("cube", "options", "embedding", "seed")


def _flatten(query: Any) -> Any:
    """Return the column of a query that has the objects as rows of a single column, else the query."""
    if isinstance(query, np.ndarray) and query.ndim == 2 and query.shape[1] == 1:
        return query[:, 0]
    if isinstance(query, list) and query and all(isinstance(row, list | tuple) and len(row) == 1 for row in query):
        return [row[0] for row in query]
    return query


class CubeEmbedding:
    """Embed the objects of a query, using the network around them.

    It has the methods of a scikit-learn transformer, so it can be used in a ``Pipeline`` and cloned; scikit-learn
    itself is not needed. ``fit`` constructs the network of a query and embeds its nodes; ``transform`` returns the
    vectors of objects of that network.

    Parameters
    ----------
    cube
        A cube of :func:`build` or :func:`open`.
    options
        The options of the network, as :class:`NetworkOptions`; by default the same as for :func:`construct`.
    embedding
        The name of an embedding, ``"deepwalk"``, ``"node2vec"`` or ``"line"``, or an object with ``embed``.
    seed
        The seed of the network and of the embedding.

    Attributes
    ----------
    network_
        The network of the fitted query.
    embedding_
        An array with a row for every node of ``network_``.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build(planted.corpus)
    >>> embedding = c2n.CubeEmbedding(cube, c2n.NetworkOptions(n_neighbors=10))
    >>> embedding.fit_transform(planted.query(0)).shape
    (50, 128)
    >>> embedding.transform(planted.query(0)[:3]).shape
    (3, 128)
    """

    network_: Network
    embedding_: Array

    @check_call
    def __init__(
        self,
        cube: Cube,
        options: NetworkOptions | None = None,
        embedding: str | NodeEmbedder = "deepwalk",
        seed: int = 0,
    ) -> None:
        self.cube = cube
        self.options = options
        self.embedding = embedding
        self.seed = seed

    def fit(self, query: Asked, y: object = None) -> CubeEmbedding:
        """Construct the network of a query and embed its nodes; ``y`` is ignored.

        As usual in scikit-learn, the objects may also be the rows of an array or a list with a single column.
        """
        options = expect_options(NetworkOptions, self.options, "n_neighbors=10")
        given = {**options.given, "seed": self.seed}
        self.network_ = construct_network(self.cube, _flatten(query), NetworkOptions(**given))
        self.embedding_ = embed_nodes(self.network_, self.embedding, seed=self.seed)
        return self

    def transform(self, query: Asked) -> Any:
        """Return the vectors of objects in the fitted network.

        Parameters
        ----------
        query
            The objects, as for :func:`construct`. All objects must be in the network.

        Returns
        -------
        numpy.ndarray
            One row per object, in the order given; for a :class:`Query` or a file in the order of the query. It is a
            data frame after :meth:`set_output`.
        """
        self._check_fitted()
        rows = self._find_rows(_flatten(query))
        order = np.argsort(self.network_.objects, kind="stable")
        known = self.network_.objects[order]
        places = np.minimum(np.searchsorted(known, rows), len(known) - 1)
        missing = rows[known[places] != rows]
        if len(missing):
            few = quote_few(self.cube.objects.ids(missing).to_pylist())
            raise QueryError(
                f"the fitted network does not have {format_count(len(missing), 'object')} of the query: {few}",
                hint="fit a query that names them",
            )
        vectors = np.asarray(self.embedding_[order[places]])
        kind = getattr(self, "_sklearn_output_config", {}).get("transform", "default")
        if kind == "default":
            return vectors
        table = pa.table(dict(zip(self.get_feature_names_out(), vectors.T, strict=True)))
        index = query.index if kind == "pandas" and hasattr(query, "iloc") else None
        return OUTPUTS[kind](table) if index is None else to_pandas(table).set_axis(index)

    def _check_fitted(self) -> None:
        if not hasattr(self, "embedding_"):
            raise ParameterError("the embedding was not fitted: call fit(query) first")

    def _find_rows(self, query: Asked) -> Array:
        """Return the rows of objects in the cube, in the order in which they are given."""
        rows = resolve_query(self.cube, query).objects
        if isinstance(query, Query | Path | str):
            return rows
        objects = self.cube.objects
        listed, _ = parse_query(query, partial(find_known_rows, objects), texts=not objects.whole)
        return np.asarray(find_rows(objects, list_keys(listed), False, None)[0])

    def fit_transform(self, query: Asked, y: object = None) -> Any:
        """Fit the query and return its vectors: :meth:`fit`, then :meth:`transform`."""
        return self.fit(query, y).transform(query)

    def set_output(self, *, transform: str | None = None) -> CubeEmbedding:
        """Set what :meth:`transform` returns: an array (``"default"``), or a frame of ``"pandas"`` or ``"polars"``."""
        if transform not in (None, "default", *OUTPUTS):
            raise unknown_name("output", transform, ("default", *OUTPUTS))
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # which scikit-learn copies to a clone
        return self

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Return the names of the columns of the vectors. ``input_features`` is ignored."""
        self._check_fitted()
        return np.array([f"cubeembedding{column}" for column in range(self.embedding_.shape[1])], dtype=object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def set_params(self, **parameters: Any) -> CubeEmbedding:
        """Set parameters by name."""
        for name, value in parameters.items():
            if name not in PARAMETERS:
                raise ParameterError(f"CubeEmbedding has no parameter {name!r}: it has {', '.join(PARAMETERS)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"CubeEmbedding({self.cube!r}, embedding={self.embedding!r}, seed={self.seed})"

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        tags = TransformerTags(preserves_dtype=[])
        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=tags,
            input_tags=InputTags(two_d_array=False, string=True),
        )
