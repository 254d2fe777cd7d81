"""Trials, statistics, verdicts and reports."""
