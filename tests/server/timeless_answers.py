"""Answers as they can be held against each other."""

from typing import Any


def timeless(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without the seconds it took."""
    told = {name: value for name, value in answer.items() if name != "seconds"}
    if isinstance(told.get("summary"), dict):
        told["summary"] = {name: value for name, value in told["summary"].items() if name != "seconds"}
    return told
