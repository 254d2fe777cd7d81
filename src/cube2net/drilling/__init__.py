"""Where a query is: the few cells below a cell that narrow it down."""

from cube2net.drilling.narrowing import Narrowed, narrow

__all__ = ["Narrowed", "narrow"]
