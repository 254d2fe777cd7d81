from .budget import Budget as Budget
from .carried import Carried as Carried, LabelCounts as LabelCounts
from .cell_explanation import CellExplanation as CellExplanation, ValueAccount as ValueAccount
from .comparison import Comparison as Comparison, Setup as Setup, Trial as Trial
from .corpus import Corpus as Corpus
from .cube import Cells as Cells, Cube as Cube
from .dimension import Dimension as Dimension, Level as Level
from .drawing import Drawing as Drawing
from .explanation import ObjectExplanation as ObjectExplanation
from .form import Form as Form
from .hidden import Hidden as Hidden
from .items import ItemIndex as ItemIndex
from .link_details import LinkDetails as LinkDetails
from .network import Network as Network
from .node_names import Node as Node
from .objects import Objects as Objects
from .pivot import Pivot as Pivot
from .price import Price as Price
from .query import Query as Query
from .question import Question as Question
from .ragged import Links as Links, Ragged as Ragged
from .recipe import Recipe as Recipe
from .scope import Scope as Scope
from .selection import Selection as Selection
from .spec import DimensionSpec as DimensionSpec
from .steering import Steering as Steering
from .topics import Topics as Topics
from .vectors import Vectors as Vectors
from .weights import Judge as Judge, Repeats as Repeats, Weights as Weights, Worth as Worth
