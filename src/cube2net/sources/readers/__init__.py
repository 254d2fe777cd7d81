"""One reader for every data set; papers and reviews are gathered the same way whoever brings them."""
