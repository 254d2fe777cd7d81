from .lda import Lda as Lda
from .lda_model import LdaModel as LdaModel, model_of as model_of, open_model as open_model
from .models import TOPIC_MODELS as TOPIC_MODELS, Given as Given
from .phrases import Phrases as Phrases
from .spark_lda import SparkLda as SparkLda
