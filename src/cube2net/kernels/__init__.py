"""Compiled code: arrays in, arrays out, nothing else."""
