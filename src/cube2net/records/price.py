"""What a pin or a ban costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cube2net.errors import some

PIN, BAN = "pin", "ban"
# Values that differ by no more than this share are the same but for rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Price:
    """What a pin or a ban costs: the value without it less the value with it, all other steering kept.

    ``kind`` is ``"pin"`` or ``"ban"`` and ``title`` the cell or object. ``price`` is below 0 where it pays, which a
    method without a proof may let happen; it is None where a method brings objects that nothing values. ``missed``
    are the cells (of such a method: objects) that would be there without it, and ``instead`` those that are there
    because of it. ``needed`` says that without it the pins would not fit: then there is no network without it, and no
    price.

    >>> print(Price("pin", "⟨2019 · ACL · parsing⟩", value=0.1, without=0.104))
    keeping ⟨2019 · ACL · parsing⟩ costs 0.004
    >>> print(Price("ban", "Ada", missed=("Ada",), instead=("Ben",)))
    leaving out Ada brings 'Ben' in its place
    >>> print(Price("ban", "Ada", value=0.1, needed=True))
    leaving out Ada is what lets the pins fit
    """

    kind: str
    title: str
    value: float | None = None
    without: float | None = None
    missed: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    needed: bool = False

    def __repr__(self) -> str:
        return f"Price({self.sentence})"

    def __str__(self) -> str:
        return self.sentence

    @property
    def price(self) -> float | None:
        """The value without it less the value with it."""
        if self.value is None or self.without is None:
            return None
        price = self.without - self.value
        return 0.0 if abs(price) <= ROUNDING * max(abs(self.value), abs(self.without)) else price

    @property
    def sentence(self) -> str:
        """The price in one sentence."""
        what = f"{'keeping' if self.kind == PIN else 'leaving out'} {self.title}"
        if self.needed:
            return f"{what} is what lets the pins fit"
        price = self.price
        if price is not None:
            return f"{what} {'pays' if price < 0 else 'costs'} {_amount(abs(price)) if price else 'nothing'}"
        if not (self.missed or self.instead):
            return f"{what} changes nothing"
        if self.kind == PIN:
            return f"{what} displaces {some(self.missed) if self.missed else 'nobody'}"
        return f"{what} brings {some(self.instead) if self.instead else 'nobody'} in its place"

    def to_dict(self) -> dict[str, Any]:
        """Return the price as JSON has it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "price": self.price,
            "value": self.value,
            "without": self.without,
            "missed": list(self.missed),
            "instead": list(self.instead),
            "needed": self.needed,
            "sentence": self.sentence,
        }


def _amount(number: float) -> str:
    """Return a number with three digits that say something; whole ones in full.

    >>> _amount(0.0041249), _amount(1234.0)
    ('0.00412', '1,234')
    """
    return f"{number:,.0f}" if number == int(number) else f"{number:.3g}"
