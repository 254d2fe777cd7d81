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
        Special interest groups whose volumes are left out, such as ``["sigmt"]``, with all authors who published
        nothing else. None by default.

    Returns
    -------
    Corpus
        Two authors are linked if they wrote a paper together.

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
        The ids of 29 authors of each institution, with the institution.

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

    The areas are the special interest groups in whose volumes the authors publish. Exclude these volumes from the
    corpus, because they reveal the labels: ``load_bundled(without_sigs=AREA_SIGS)``, that is ``("sigmt", "sigdial",
    "sigbiomed", "sigedu")``.

    Returns
    -------
    dict
        The ids of the authors, with their areas.

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
        ``objects`` (1,000) is the number of objects and ``communities`` (10) that of communities; each community owns
        ``cells`` (4) cells. Each object is mentioned by ``items`` (3) items in these cells, and an item mentions at
        most ``mentions`` (3) objects. ``noise`` (0.1) is the share of items that mention random objects in random
        cells. Each object has about ``links`` (8) links, a share ``within`` (0.9) of them inside its community. There
        are ``decades`` (5), ``venues`` and ``topics`` labels, by default enough for four times as many cells as are
        owned. ``seed`` (0) makes the result reproducible.

    Returns
    -------
    Planted
        ``corpus`` is the corpus, ``communities`` the community of each object, ``best_cells`` the cells of each
        community; ``query(number)`` returns the ids of a community's members.

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
