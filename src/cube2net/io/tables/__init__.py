"""Networks from tables of any usual format, or from a graph in memory; and queries from files."""
