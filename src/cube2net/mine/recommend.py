"""The recommenders, in the order one would teach them."""

from __future__ import annotations

from cube2net.interfaces import Recommender
from cube2net.mine.als import Als
from cube2net.mine.ease import Ease
from cube2net.mine.neighbours import ItemKnn, Popularity
from cube2net.mine.softimpute import SoftImpute

RECOMMENDERS: dict[str, type[Recommender]] = {
    "popularity": Popularity,
    "itemknn": ItemKnn,
    "softimpute": SoftImpute,
    "als": Als,
    "ease": Ease,
}

TRIED: dict[str, tuple[Recommender, ...]] = {
    "popularity": (Popularity(),),
    "itemknn": tuple(ItemKnn(neighbours=k, shrink=shrink) for k in (20, 100, 500) for shrink in (0.0, 10.0, 50.0)),
    "softimpute": tuple(
        SoftImpute(rank=rank, values=values, zeros=zeros, centring=centring)
        for rank in (4, 16)
        for values, zeros, centring in (
            ("ones", 0.0, "none"),
            ("ones", 1.0, "none"),
            ("ones", 4.0, "none"),
            ("ones", 4.0, "mean"),
            ("given", 0.0, "items"),
            ("given", 4.0, "none"),
        )
    ),
    "als": tuple(
        Als(rank=rank, ridge=ridge, confidence=confidence)
        for rank in (8, 32)
        for ridge in (1.0, 10.0, 50.0)
        for confidence in (2.0, 10.0)
    ),
    "ease": tuple(Ease(ridge=ridge) for ridge in (5.0, 20.0, 100.0, 500.0)),
}
"""What ``choose`` tries for each where it is to be at its best; Soft-Impute adds a path of shrinkages to each."""
