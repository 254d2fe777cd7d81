"""Methods × seeds → scores, tests, a verdict and a report."""
