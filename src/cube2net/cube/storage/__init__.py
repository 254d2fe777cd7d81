"""What a cube is on disk: its manifest, its parts, its ledger, and reading and writing them."""
