"""The one way that data is read: paths become files behind a meter, files become lines and records, and what cannot be
used is counted.
"""
