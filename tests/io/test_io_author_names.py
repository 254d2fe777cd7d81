"""Names of authors: how they are read, and which of them are one person."""

from __future__ import annotations

from pathlib import Path

from cube2net.io.bibliography.author_names import Author, format_name, identify_authors

PAIRS = Path(__file__).parent / "author_pairs.tsv"


def read_pairs() -> tuple[list[list[Author]], list[tuple[int, int, int, int, bool]]]:
    """Return the authors of papers, and pairs of two of them with whether they are one person."""
    papers, pairs = PAIRS.read_text(encoding="utf-8").split("\n\n")
    named = [line.split("\t")[1].split("|") for line in papers.splitlines() if not line.startswith("#")]
    authors = [
        [Author(format_name(name), tuple(ids)) for name, *ids in (each.split("*") for each in row)] for row in named
    ]
    return authors, [
        (a, b, c, d, bool(same)) for a, b, c, d, same in (map(int, line.split()) for line in pairs.splitlines())
    ]


def test_of_a_thousand_pairs_of_names_at_least_95_percent_of_one_person_and_nearly_no_others_are_merged() -> None:
    papers, pairs = read_pairs()
    persons, numbers = identify_authors(papers)
    person = {
        (paper, name): number
        for paper, found in enumerate(numbers)
        for number in found
        for name in persons[number].names
        if name in {author.name for author in papers[paper]}
    }
    verdicts = [
        (person[first, papers[first][one].name] == person[second, papers[second][two].name], same)
        for first, one, second, two, same in pairs
    ]
    right = sum(merged and same for merged, same in verdicts)
    assert len(pairs) == 1000
    assert right >= 0.99 * sum(merged for merged, _ in verdicts)
    assert right >= 0.95 * sum(same for _, same in verdicts)


def test_names_without_shared_coauthors_stay_apart() -> None:
    papers = [[Author("Govil, N."), Author("Sharma, A.")], [Author("Govil, Nikhil"), Author("Rossi, B.")]]
    persons, _ = identify_authors(papers)
    assert [person.name for person in persons] == ["Govil, N.", "Sharma, A.", "Govil, Nikhil", "Rossi, B."]


def test_one_orcid_joins_names_and_two_keep_the_same_name_apart() -> None:
    one, other = "0000-0002-1825-0097", "0000-0001-5109-3700"
    papers = [
        [Author("Garcia Marquez, J.", (one,))],
        [Author("Márquez, Josefina García", (one,))],
        [Author("Garcia Marquez, J.", (other,))],
    ]
    persons, numbers = identify_authors(papers)
    assert numbers == [[0], [0], [1]]
    assert [person.orcid for person in persons] == [one, other]
