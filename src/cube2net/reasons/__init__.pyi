from .cell_reasons import account_of as account_of, explain_cell as explain_cell
from .choice_values import Choice as Choice
from .object_reasons import explain_object as explain_object
from .query_ranks import QueryRanks as QueryRanks
from .shared_items import ItemsOfObjects as ItemsOfObjects
