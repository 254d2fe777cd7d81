// Excerpts of search results are read from the pages found, which a browser forbids where pages are files.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
