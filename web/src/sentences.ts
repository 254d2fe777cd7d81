// The library's sentences as people write them.

const FILE = /^\S+\.(csv|tsv|tab|txt|jsonl|ndjson|parquet|xlsx|xlsm|xls|ods|graphml|gexf|gml|net|gz)(?![\w.])/i;

/** A lower-case sentence of the library with a capital letter and a full stop; the name of a file stays as it is. */
export function sentence(text: string, files: readonly string[] = []): string {
  const named = FILE.test(text) || files.some((name) => text.startsWith(name));
  const begun = named ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return text === "" || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
