"""What passes between rooms: frozen, and checked once, when made."""

from cube2net.records.budget import Budget
from cube2net.records.carried import Carried, LabelCounts
from cube2net.records.cell_explanation import CellExplanation, ValueAccount
from cube2net.records.comparison import Comparison, Setup, Trial
from cube2net.records.corpus import Corpus
from cube2net.records.cube import Cells, Cube
from cube2net.records.dimension import Dimension, Level
from cube2net.records.drawing import Drawing
from cube2net.records.explanation import ObjectExplanation
from cube2net.records.form import Form
from cube2net.records.hidden import Hidden
from cube2net.records.items import ItemIndex
from cube2net.records.link_details import LinkDetails
from cube2net.records.network import Network
from cube2net.records.node_names import Node
from cube2net.records.objects import Objects
from cube2net.records.pivot import Pivot
from cube2net.records.price import Price
from cube2net.records.query import Query
from cube2net.records.question import Question
from cube2net.records.ragged import Links, Ragged
from cube2net.records.recipe import Recipe
from cube2net.records.scope import Scope
from cube2net.records.selection import Selection
from cube2net.records.spec import DimensionSpec
from cube2net.records.steering import Steering
from cube2net.records.topics import Topics
from cube2net.records.vectors import Vectors
from cube2net.records.weights import Judge, Repeats, Weights, Worth

__all__ = [
    "Budget",
    "Carried",
    "CellExplanation",
    "Cells",
    "Comparison",
    "Corpus",
    "Cube",
    "Dimension",
    "DimensionSpec",
    "Drawing",
    "Form",
    "Hidden",
    "ItemIndex",
    "Judge",
    "LabelCounts",
    "Level",
    "LinkDetails",
    "Links",
    "Network",
    "Node",
    "ObjectExplanation",
    "Objects",
    "Pivot",
    "Price",
    "Query",
    "Question",
    "Ragged",
    "Recipe",
    "Repeats",
    "Scope",
    "Selection",
    "Setup",
    "Steering",
    "Topics",
    "Trial",
    "ValueAccount",
    "Vectors",
    "Weights",
    "Worth",
]
