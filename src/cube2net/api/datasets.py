"""Bundled and synthetic data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cube2net.io import datasets
from cube2net.io.datasets import Planted
from cube2net.model.corpus import Corpus
from cube2net.model.interfaces import check_call

AREA_SIGS = datasets.AREA_SIGS
"""The groups whose volumes tell the labels of :func:`load_areas`."""


@check_call
def load_bundled(without_sigs: Sequence[str] = ()) -> Corpus:
    """Load the bundled papers of the ACL Anthology, optionally without the volumes of some groups.

    Objects are authors, items are papers since 2016 with ``year``, ``venue``, ``sig``, ``volume`` and ``title``; counts
    of terms stand in for their abstracts.

    Parameters
    ----------
    without_sigs
        Special interest groups whose volumes are left out, such as ``["sigmt"]``, and with them authors of nothing
        else. Without any, all is there.

    Returns
    -------
    Corpus
        Two authors are linked when they wrote a paper together.

    See Also
    --------
    load_labs, load_areas : Labels of some of its authors.

    Examples
    --------
    >>> import cube2net as c2n
    >>> c2n.load_bundled(without_sigs=["sigmt"])
    Corpus(55,031 objects, 38,819 items, links by co-mention)
    """
    return datasets.load_bundled(without_sigs)


@check_call
def load_labs() -> dict[str, str]:
    """Load 116 authors of four institutions, object → label.

    Returns
    -------
    dict
        The ids of authors of :func:`load_bundled`, 29 from each of four institutions, and the institution of each.

    Examples
    --------
    >>> import cube2net as c2n
    >>> labs = c2n.load_labs()
    >>> len(labs), sorted(set(labs.values()))[:2]
    (116, ['Carnegie Mellon University', 'Harbin Institute of Technology'])
    """
    return datasets.load_labs()


@check_call
def load_areas() -> dict[str, str]:
    """Load 574 authors of four research areas, object → area.

    The areas are those of the special interest groups in whose volumes the authors publish. Leave these volumes out of
    the corpus, or they tell the labels: ``load_bundled(without_sigs=AREA_SIGS)``, that is ``("sigmt", "sigdial",
    "sigbiomed", "sigedu")``.

    Returns
    -------
    dict
        The ids of authors of :func:`load_bundled`, and the area of each.

    Examples
    --------
    >>> import cube2net as c2n
    >>> areas = c2n.load_areas()
    >>> len(areas), sorted(set(areas.values()))
    (574, ['biomedical', 'dialogue', 'education', 'machine translation'])
    """
    return datasets.load_areas()


@check_call
def make_planted(**options: Any) -> Planted:
    """Generate a corpus with planted communities, and the best cells for each.

    Parameters
    ----------
    options
        How many ``objects`` (1,000) there are in how many ``communities`` (10), each of which owns so many ``cells``
        (4). An object is mentioned by so many ``items`` (3) in these cells, and an item mentions so many ``mentions``
        (3) at most. ``noise`` (0.1) is the share of items that mention any objects in any cell. An object has about so
        many ``links`` (8), a share ``within`` (0.9) of them inside its community. The cells lie in so many ``decades``
        (5), ``venues`` and ``topics``; without numbers there are about four times as many cells as are owned. The same
        ``seed`` (0) makes the same corpus.

    Returns
    -------
    Planted
        ``corpus`` is the corpus, ``communities`` the community of every object, ``best_cells`` the cells of every
        community, and ``query(number)`` gives the ids of a community's members.

    Examples
    --------
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> planted, planted.corpus
    (Planted(200 objects, 4 communities, 16 cells), Corpus(200 objects, 206 items, 720 links))
    >>> len(planted.query(0)), planted.best_cells[0][0]
    (50, ('198X', 'venue 0', 'topic 2'))
    """
    return datasets.make_planted(**options)
