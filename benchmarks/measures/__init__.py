"""The measurements behind docs/findings/performance.md, one file each; ``benchmarks/performance.py`` runs them."""
