"""Topics of the ACL Anthology: time and coherence of our LDA beside gensim's and tomotopy's, on the same terms.

    python benchmarks/topics.py [ACL] [--workers 2] [--topics 100] [--limit 600] [--only ours,without,gensim,tomotopy]
    python benchmarks/topics.py [ACL] --grow          memory and time for more and more texts
    python benchmarks/topics.py [ACL] --phrases       what our phrases are, beside what AutoPhrase promises
    python benchmarks/topics.py [ACL] --samples       topics and labels when phrases are learned from some of the texts

ACL is the Anthology's folder or archive; without it, ``$CUBE2NET_DATA/acl/acl-anthology-2026-08.tar.xz``. Coherence is
the mean normalised pointwise mutual information (NPMI) of the ten heaviest terms of each topic, counted over the
items; "different" is the share of these terms that stand in one topic only once. Every other library is trained pass
by pass until it is as coherent as ours or has used up its time limit. gensim and tomotopy are left out where they
are not installed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.model.corpus import Corpus
from cube2net.topics.document_terms import Bags, compute_term_weights, count_terms, make_bags, weight_counts
from cube2net.topics.lda import Lda
from cube2net.topics.lda_model import read_model
from cube2net.topics.phrases import Phrases
from topics_growth import grow
from topics_phrases import phrases

TOP = 10


def coherence(of_term: Array, bags: Bags) -> tuple[float, float]:
    """Return the mean NPMI of the top terms of every topic (columns), and the share of different terms."""
    top = np.argsort(-of_term, axis=0, kind="stable")[:TOP].T
    terms, place = np.unique(top, return_inverse=True)
    place = place.reshape(top.shape)
    shape = (len(bags), len(bags.vocabulary))
    here = sp.csr_array((np.ones(len(bags.terms)), bags.terms, bags.starts), shape=shape)[:, terms]
    both = (here.T @ here).toarray() / len(bags)
    alone = np.diag(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(both / np.outer(alone, alone)) / -np.log(both)
    npmi[both == 0] = -1.0
    first, second = np.triu_indices(TOP, 1)
    return float(npmi[place[:, first], place[:, second]].mean()), len(terms) / top.size


def line(name: str, seconds: float, score: tuple[float, float], note: str = "") -> float:
    print(f"{name:<46} {seconds:8.1f} {score[0]:8.3f} {score[1]:10.2f}  {note}", flush=True)
    return score[0]


def ours(corpus: Corpus, bags: Bags, lda: Lda, name: str = "cube2net") -> tuple[float, float]:
    """Return seconds and coherence of our topics, labels of all items included."""
    start = time.perf_counter()
    model = lda.fit(corpus, seed=0)
    model.topics(corpus)
    seconds = time.perf_counter() - start
    note = f"{model.settings['iterations']} sweeps, {model.settings['sample']:,} items sampled"
    return seconds, line(name, seconds, coherence(model.of_term, bags), note)


def without(corpus: Corpus, bags: Bags, lda: Lda) -> None:
    """Print what each part of the method brings, by leaving it out."""
    ours(corpus, bags, replace(lda, sample=len(bags)), "  without a sample: all items")
    with mock.patch(
        "cube2net.topics.lda.cluster_items", lambda bags, clusters, rng: rng.integers(clusters, size=len(bags))
    ):
        ours(corpus, bags, lda, "  without a warm start: random topics")
        ours(corpus, bags, replace(lda, iterations=200, tolerance=0.0), "  the same, 200 sweeps")
    with mock.patch(
        "cube2net.topics.lda.compute_term_weights", lambda bags: np.ones(len(bags.vocabulary), dtype=np.float32)
    ):
        ours(corpus, bags, lda, "  without weights: common terms count fully")
    ours(corpus, bags, replace(lda, iterations=1), "  without Gibbs: one sweep after the warm start")
    ours(corpus, bags, replace(lda, workers=1), "  with one worker (the same topics)")


def samples(corpus: Corpus, lda: Lda) -> None:
    """Print what becomes of topics and labels when phrases are learned from fewer texts, and by other seeds."""
    texts = corpus.items["text"]
    runs = [(len(texts), seed) for seed in range(3)] + [(size, 0) for size in (100_000, 60_000, 30_000)]
    full: list[str] = []
    print(f"{'texts':>10} {'seed':>5} {'terms':>8} {'NPMI':>8} {'different':>10} {'NMI with the first':>19}")
    for size, seed in runs:
        found = replace(lda, phrase_sample=size).topics(corpus, seed=seed)
        model = read_model(found.model)
        bags = make_bags(count_terms(texts, model.vocabulary, model.language), len(texts), model.vocabulary)
        labels = np.array(found.names)[found.assigned["topic"].to_numpy()].tolist()
        full = full or labels
        score, alike = coherence(model.of_term, bags), normalized_mutual_info_score(full, labels)
        print(
            f"{size:10,} {seed:5} {len(model.vocabulary):8,} {score[0]:8.3f} {score[1]:10.2f} {alike:19.3f}", flush=True
        )
        if size == len(texts) and seed == 0:
            again = model.label_texts(texts)
            same = np.array(again.names)[again.assigned["topic"].to_numpy()] == np.array(full)
            print(f"labelled again by the saved model: {same.mean():.2%} of the labels are the same", flush=True)


def gensim_passes(bags: Bags, topics: int, workers: int, **priors: float) -> Iterator[Array]:
    """Give the words of each topic after every pass of gensim's LdaMulticore."""
    from gensim.models import LdaMulticore

    pairs = list(zip(bags.terms.tolist(), bags.counts.tolist(), strict=True))
    texts = [pairs[first:last] for first, last in zip(bags.starts[:-1], bags.starts[1:], strict=True)]
    names = dict(enumerate(bags.vocabulary))
    model = LdaMulticore(id2word=names, num_topics=topics, workers=workers, random_state=0, eval_every=None, **priors)
    while True:
        model.update(texts)
        yield model.get_topics().T


def tomotopy_passes(bags: Bags, topics: int, workers: int) -> Iterator[Array]:
    """Give the words of each topic after every ten sweeps of tomotopy."""
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=0.1, eta=0.05, seed=1)
    names = np.array(bags.vocabulary, dtype=object)
    for first, last in zip(bags.starts[:-1], bags.starts[1:], strict=True):
        model.add_doc(np.repeat(names[bags.terms[first:last]], bags.counts[first:last].astype(int)).tolist())
    number = {name: i for i, name in enumerate(bags.vocabulary)}
    while True:
        model.train(10, workers=workers)
        rows = [number[name] for name in model.used_vocabs]
        found = np.zeros((len(names), topics))
        found[rows] = np.stack([model.get_topic_word_dist(topic) for topic in range(topics)], axis=1)
        yield found


def until(name: str, make: Callable[[], Iterator[Array]], bags: Bags, goal: float, limit: float) -> tuple[float, float]:
    """Return the seconds and the coherence when the goal is reached, or at the time limit."""
    seconds, score, step = 0.0, (0.0, 0.0), 0
    passes = make()
    while seconds < limit:
        start = time.perf_counter()
        found = next(passes)
        seconds += time.perf_counter() - start
        step += 1
        score = coherence(found, bags)
        reached = score[0] >= goal
        note = "" if reached or seconds < limit else "not as coherent at the time limit"
        if step in (1, 3) or reached or note:
            line(f"{name}, {step} passes", seconds, score, note)
        if reached:
            break
    return seconds, score[0]


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = Path(os.environ.get("CUBE2NET_DATA", ".")) / "acl" / "acl-anthology-2026-08.tar.xz"
    ask.add_argument("acl", nargs="?", type=Path, default=home)
    ask.add_argument("--workers", type=int, default=2)
    ask.add_argument("--topics", type=int, default=100)
    ask.add_argument("--limit", type=float, default=600.0, help="seconds for each other library")
    ask.add_argument("--only", default="ours,without,gensim,tomotopy")
    ask.add_argument("--grow", action="store_true", help="measure memory and time as the texts grow, and nothing else")
    ask.add_argument("--phrases", action="store_true", help="ask whether the phrases are good, and nothing else")
    ask.add_argument("--samples", action="store_true", help="learn from fewer of the texts, and nothing else")
    asked = ask.parse_args()
    only = asked.only.split(",")
    corpus = c2n.api.read_acl(asked.acl)
    if asked.grow:
        grow(corpus.items["text"].to_pylist(), asked.workers, asked.topics)
        return
    if asked.phrases:
        phrases(corpus.items["text"].to_pylist())
        return
    if asked.samples:
        samples(corpus, Lda(count=asked.topics, workers=asked.workers))
        return
    start = time.perf_counter()
    terms = Phrases().count(corpus.items["text"])
    seconds = time.perf_counter() - start
    corpus = replace(corpus, terms=terms)
    bags = make_bags(terms, corpus.items.num_rows)
    print(f"{corpus.items.num_rows:,} items, {len(bags):,} with terms, {len(bags.vocabulary):,} terms")
    print(f"phrases and terms (the same for all): {seconds:.1f} s\n")
    print(f"{'':<46} {'seconds':>8} {'NPMI':>8} {'different':>10}")
    lda = Lda(count=asked.topics, workers=asked.workers)
    replace(lda, iterations=1, sample=500).topics(corpus, seed=0)  # the kernels are compiled
    took, goal = ours(corpus, bags, lda)
    if "without" in only:
        without(corpus, bags, lda)
    others: list[tuple[str, Callable[[], Iterator[Array]]]] = []
    if "gensim" in only:
        weighed = weight_counts(bags, compute_term_weights(bags))
        others += [
            ("gensim", lambda: gensim_passes(bags, asked.topics, asked.workers)),
            ("gensim, our priors", lambda: gensim_passes(bags, asked.topics, asked.workers, alpha=0.1, eta=0.05)),
            (
                "gensim, our priors and weights",
                lambda: gensim_passes(weighed, asked.topics, asked.workers, alpha=0.1, eta=0.05),
            ),
        ]
    if "tomotopy" in only:
        others.append(("tomotopy (a pass is 10 sweeps)", lambda: tomotopy_passes(bags, asked.topics, asked.workers)))
    for name, make in others:
        try:
            spent, score = until(name, make, bags, goal, asked.limit)
        except ImportError as error:
            print(f"{name}: left out, {error}")
            continue
        print(f"{'':<46} {spent / took:7.1f} × our time, NPMI {score:.3f} against {goal:.3f}")


if __name__ == "__main__":
    main()
