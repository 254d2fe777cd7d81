"""The measurements behind docs/performance.md, one file each; ``benchmarks/performance.py`` runs them."""
