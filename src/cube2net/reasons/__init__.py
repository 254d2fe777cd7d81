"""Network + Question → why: what brought an object, what a cell adds, and what was missed; nothing is chosen here."""

from cube2net.reasons.cell_reasons import account_of, explain_cell
from cube2net.reasons.choice_values import Choice
from cube2net.reasons.object_reasons import explain_object
from cube2net.reasons.query_ranks import QueryRanks
from cube2net.reasons.shared_items import ItemsOfObjects

__all__ = ["Choice", "ItemsOfObjects", "QueryRanks", "account_of", "explain_cell", "explain_object"]
