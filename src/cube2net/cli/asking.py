"""Commands that ask about a network take the options by which ``query`` makes one."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.cli import answering
from cube2net.errors import ParameterError
from cube2net.progress import Progress
from cube2net.records import Cube, Network
