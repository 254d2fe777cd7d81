import assert from "node:assert/strict";
import test from "node:test";
import { fileName, httpClient, Refusal } from "./client";
import { labelClass, labelNumbers } from "./colours";
import { changes } from "./refusal_card";
import type { ProgressSchema } from "./types";

/** Answers the next fetch with the parts of a body, as they come over the wire. */
function answering(parts: string[], status = 200, headers: Record<string, string> = {}): Request[] {
  const asked: Request[] = [];
  globalThis.fetch = (async (address: string, given: RequestInit) => {
    asked.push(new Request(`http://here${address}`, given));
    const body = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    });
    return new Response(body, { status, headers });
  }) as typeof fetch;
  return asked;
}

const LINES = { "content-type": "application/x-ndjson" };
const refused = (kind: string, words: RegExp) => (error: unknown) => error instanceof Refusal && error.kind === kind && words.test(error.sentence);

test("progress is told line by line, however the lines are cut, and then the answer comes", async () => {
  const asked = answering(['{"progress":{"stage":"a","do', 'ne":1,"total":2}}\n{"progress":{"stage":"b","done":2,"total":2}}\n{"ans', 'wer":{"candidates":[]}}\n'], 200, LINES);
  const told: ProgressSchema[] = [];
  const answer = await httpClient().ask("complete", { text: "a" }, { progress: (word) => told.push(word) });
  assert.deepEqual(answer, { candidates: [] });
  assert.deepEqual(told.map(({ stage }) => stage), ["a", "b"]);
  assert.equal(asked[0]?.headers.get("accept"), "application/x-ndjson");
});

test("a refusal within lines is a refusal", async () => {
  answering(['{"error":{"sentence":"n_cells is 0","kind":"ParameterError"}}\n'], 200, LINES);
  await assert.rejects(httpClient().ask("complete", { text: "a" }, { progress: () => undefined }), refused("ParameterError", /n_cells is 0/));
});

test("lines that end without an answer mean that the explorer is gone", async () => {
  answering(['{"progress":{"stage":"a","done":1,"total":2}}\n'], 200, LINES);
  await assert.rejects(httpClient().ask("complete", { text: "a" }, { progress: () => undefined }), refused("offline", /does not answer/));
});

test("no server, no token, and what a server says are told apart", async () => {
  globalThis.fetch = (() => Promise.reject(new TypeError("fetch failed"))) as typeof fetch;
  await assert.rejects(httpClient().ask("cube", {}), refused("offline", /does not answer/));
  answering(["{}"], 401);
  await assert.rejects(httpClient().ask("cube", {}), refused("unauthorised", /open the address that the program printed/));
  answering(['{"error":{"sentence":"too many","kind":"busy"}}'], 429);
  await assert.rejects(httpClient().ask("cube", {}), refused("busy", /too many/));
  answering(["<html>"], 502);
  await assert.rejects(httpClient().ask("cube", {}), refused("server", /answered 502/));
});

test("questions say of which cube they are, once it is known, and it is heard that another was opened", async () => {
  const heard: string[] = [];
  const client = httpClient("/api/v1/", ({ sentence }) => heard.push(sentence));
  const asked = answering(['{"checksum":"abc"}']);
  await client.ask("cube", {});
  assert.equal(asked[0]?.headers.get("cube2net-checksum"), null);
  const refusal = '{"error":{"sentence":"another cube was opened","kind":"other-cube"}}';
  const further = answering([refusal], 409);
  await assert.rejects(client.ask("complete", { text: "a" }), refused("other-cube", /another cube/));
  assert.equal(further[0]?.headers.get("cube2net-checksum"), "abc");
  answering([`${refusal}\n`], 200, LINES);
  await assert.rejects(client.ask("complete", { text: "a" }, { progress: () => undefined }), refused("other-cube", /another cube/));
  assert.deepEqual(heard, ["another cube was opened", "another cube was opened"]);
});

test("a file is handed over with the names of those used beside it, and taken back by its name", async () => {
  const asked = answering(['{"name":"a b.csv","files":["a b.csv"]}']);
  assert.equal((await httpClient().upload?.(new File(["x"], " a b.csv"), ["c&d.csv"]))?.name, "a b.csv");
  const words = new URL(asked[0]?.url ?? "").searchParams;
  assert.deepEqual([words.get("name"), words.getAll("uses")], [" a b.csv", ["c&d.csv"]]);
  const back = answering(['{"name":"a b.csv","files":[]}']);
  await httpClient().takeBack?.("a b.csv");
  assert.deepEqual([back[0]?.method, new URL(back[0]?.url ?? "").searchParams.get("name")], ["DELETE", "a b.csv"]);
});

test("a stop is no refusal", async () => {
  globalThis.fetch = (() => Promise.reject(new DOMException("stopped", "AbortError"))) as typeof fetch;
  await assert.rejects(httpClient().ask("cube", {}), { name: "AbortError" });
});

test("a file has the name that the server gave it", async () => {
  answering(["object,label\n"], 200, { "content-disposition": 'attachment; filename="query.csv"', "content-type": "text/csv" });
  const file = await httpClient().file({ request: { query: ["a"] }, format: "query.csv" });
  assert.deepEqual([file.name, file.media_type, new TextDecoder().decode(file.bytes)], ["query.csv", "text/csv", "object,label\n"]);
  assert.equal(fileName("attachment; filename*=UTF-8''%C3%A4.csv"), "ä.csv");
  assert.equal(fileName(null), null);
});

test("a label has the same colour whatever order labels come in, and the ninth is grey", () => {
  const labels = [..."cabdefghi"];
  assert.deepEqual([...labelNumbers(labels)], [...labelNumbers([...labels].reverse())]);
  assert.equal(labelClass(labelNumbers(labels), "b"), "label-1");
  assert.equal(labelClass(labelNumbers(labels), "i"), "label-none");
  assert.equal(labelClass(labelNumbers(labels), ""), "label-none");
  assert.equal(labelClass(labelNumbers([""]), ""), "label-0");
});

test("what was tried is said word by word", () => {
  const before = { query: ["a"], n_cells: 4, n_neighbors: 2 };
  assert.deepEqual(changes(before, { query: ["a"], n_cells: 5, where: { venue: ["ACL"] }, cube: "x" }), ["cells 5", "neighbours automatic", "only venue ACL"]);
  assert.deepEqual(changes(before, before), []);
});
