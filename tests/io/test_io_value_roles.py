"""What a column is, is told by its values where its name does not tell."""

from pathlib import Path

import pytest

from cube2net.model.corpus import Corpus

from table_files import put, read, refusal


def links(corpus: Corpus) -> dict[tuple[str, str], float]:
    ids = corpus.objects["object"].to_pylist()
    return {(ids[row["source"]], ids[row["target"]]): row["weight"] for row in corpus.links.to_pylist()}


KUNDEN = "Name;Kunden-Nr.;Ort\nMeier;1001;Ulm\nKunz;1002;Bonn\nMeier;1003;Ulm\n"


def test_the_id_of_a_node_is_unique_and_a_name_that_comes_twice_is_none(tmp_path):
    corpus, said = read(put(tmp_path, nodes=KUNDEN, links="von;an\n1001;1002\n1003;1001\n"))
    assert corpus.objects["object"].to_pylist() == ["1001", "1002", "1003"]
    assert corpus.objects["name"].to_pylist() == ["Meier", "Kunz", "Meier"]
    assert corpus.attributes == ("Ort",)
    assert links(corpus) == {("1001", "1002"): 1.0, ("1001", "1003"): 1.0}
    assert "columns of nodes: id='Kunden-Nr.' (guessed), name='Name' (guessed)" in said
    assert "columns of links: source='von' (guessed), target='an' (guessed)" in said


def test_of_two_unique_columns_the_one_is_the_id_that_links_refer_to(tmp_path):
    nodes = "name,code,city\nAda,x1,Rome\nBob,x2,Oslo\nCy,x3,Rome\n"
    corpus, _ = read(put(tmp_path, nodes=nodes, links="who,whom\nx1,x2\nx3,x1\n"))
    assert corpus.objects["object"].to_pylist() == ["x1", "x2", "x3"]
    assert corpus.objects["name"].to_pylist() == ["Ada", "Bob", "Cy"]
    corpus, _ = read(put(tmp_path, nodes=nodes, links="who,whom\nAda,Bob\nCy,Ada\n"))
    assert corpus.objects["object"].to_pylist() == ["Ada", "Bob", "Cy"]


def test_an_id_by_name_is_not_doubted(tmp_path):
    told = refusal(put(tmp_path, nodes="id,x\na,1\nb,2\na,3\n", links="from,to\na,b\n"))
    assert told.startswith("nodes.csv line 4: 'id' is 'a' again")


def test_links_between_columns_of_any_name_are_those_that_are_ids(tmp_path):
    nodes = "id,city\na,Rome\nb,Oslo\nc,Rome\n"
    corpus, said = read(put(tmp_path, nodes=nodes, links="note,Käufer,Jahr,Verkäufer\nx,a,1999,b\ny,c,2001,a\n"))
    assert links(corpus) == {("a", "b"): 1.0, ("a", "c"): 1.0}
    assert "columns of links: source='Käufer' (guessed), target='Verkäufer' (guessed)" in said
    corpus, said = read(put(tmp_path, nodes=nodes, links="from,to,seller,buyer\n1999,2001,a,b\n1998,2000,b,c\n"))
    assert "columns of links: source='seller' (guessed), target='buyer' (guessed)" in said


@pytest.mark.parametrize("last", ["Summe;;9", "c;x;1", "x;a;1\na;y;1\nb;z;1"])
def test_a_bad_row_does_not_swap_source_and_target(tmp_path, last):
    nodes = "id;Ort\na;Ulm\nb;Bonn\nc;Ulm\n"
    for text in (f"von;an;Menge\na;b;3\nb;c;2\nc;a;1\n{last}\n", f"von;an;Menge\n{last}\na;b;3\nb;c;2\nc;a;1\n"):
        _, said = read(put(tmp_path, nodes=nodes, links=text))
        assert any(line.startswith("columns of links: source='von' (guessed), target='an' (guessed)") for line in said)


def test_of_three_columns_of_ids_the_two_are_the_ends_that_have_most(tmp_path):
    nodes = "id,city\n1,Rome\n2,Oslo\n3,Rome\n"
    _, said = read(put(tmp_path, nodes=nodes, links="n,von,an\n1,1,2\n2,2,3\n9,3,1\n"))
    assert any(line.startswith("columns of links: source='von' (guessed), target='an' (guessed)") for line in said)


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("one,other\na,b\nb,c\n", [1.0, 1.0]),
        ("one,other,times\na,b,3\nb,c,2\n", [3.0, 2.0]),
        ("one;other;mal\na;b;3,5\nb;c;2\n", [3.5, 2.0]),
        ("one,other,year\na,b,1999\nb,c,2001\n", [1.0, 1.0]),
        ("one,other,note\na,b,x\nb,c,y\n", [1.0, 1.0]),
        ("source,target,number\na,b,3\nb,c,2\n", [1.0, 1.0]),
        ("source,target,papers\na,b,3\nb,c,2\n", [3.0, 2.0]),
        ("one,other,link_id\na,b,7\nb,c,5\n", [1.0, 1.0]),
        ("one,other,paid\na,b,7\nb,c,5\n", [7.0, 5.0]),
        ("one,other,x,y\na,b,7,1\nb,c,5,2\n", [1.0, 1.0]),
        ("one,other,note,x\na,b,7a,1\nb,c,5b,2\n", [1.0, 2.0]),
        ("one,other,change\na,b,-1\nb,c,2\n", [1.0, 1.0]),
        ("one,other,row\na,b,1\nb,c,2\na,c,3\n", [1.0, 1.0, 1.0]),
    ],
)
def test_two_columns_are_source_and_target_and_the_one_of_numbers_is_the_weight(tmp_path, text, weights):
    corpus, _ = read(put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\nc,Rome\n", links=text))
    assert sorted(corpus.links["weight"].to_pylist()) == sorted(weights)


NODES = "id;Ort\na;Ulm\nb;Bonn\nc;Ulm\n"


def test_the_one_column_of_dates_is_the_time_of_links(tmp_path):
    corpus, said = read(put(tmp_path, nodes=NODES, links="von;an;Menge;Datum\na;b;3,5;25.02.2020\nb;c;2;1.3.2021\n"))
    assert (
        "columns of links: source='von' (guessed), target='an' (guessed), weight='Menge' (guessed), "
        "time='Datum' (guessed)"
    ) in said
    assert corpus.links["weight"].to_pylist() == [3.5, 2.0]
    assert [str(day) for day in corpus.links["time"].to_pylist()] == ["2020-02-25", "2021-03-01"]
    assert not any("not used" in line for line in said)


def test_columns_of_links_that_are_not_used_are_said_and_of_several_none_is_guessed(tmp_path):
    rows = "a;b;3,5;7;x;25.02.2020;1.1.2021\nb;c;2;8;y;1.3.2021;2.1.2021\n"
    paths = put(tmp_path, nodes=NODES, links=f"von;an;Menge;Preis;Art;Datum;bezahlt\n{rows}")
    corpus, said = read(paths)
    assert corpus.links["weight"].to_pylist() == [1.0, 1.0] and "time" not in corpus.links.column_names
    told = [line for line in said if "could each be" in line or "not used" in line]
    assert told == [
        "links.csv: 'Datum', 'bezahlt' could each be the time, so none is (columns={'links.time': 'Datum'} to choose)",
        "links.csv: 'Menge', 'Preis' could each be the weight, so none is "
        "(columns={'links.weight': 'Menge'} to choose)",
        "columns of links not used: 'Menge', 'Preis', 'Art', 'Datum', 'bezahlt' (each may be weight, kind or time: "
        "columns={'links.weight': 'Menge'})",
    ]
    corpus, said = read(paths, columns={"links.weight": "Preis", "time": "bezahlt", "links.kind": "Art"})
    assert corpus.links["weight"].to_pylist() == [7.0, 8.0] and corpus.links["kind"].to_pylist() == ["x", "y"]
    assert str(corpus.links["time"][0]) == "2021-01-01"


def test_a_role_that_is_given_no_column_has_none(tmp_path):
    paths = put(tmp_path, nodes=NODES, links="von;an;Menge\na;b;3,5\nb;c;2\n")
    corpus, said = read(paths, columns={"links.weight": ""})
    assert corpus.links["weight"].to_pylist() == [1.0, 1.0]
    assert any(line.startswith("columns of links not used: 'Menge'") for line in said)
    assert "has no column for the id" in refusal(paths, columns={"nodes.id": ""})


def test_mentions_of_any_names_are_told_by_items_and_objects(tmp_path):
    paths = put(
        tmp_path,
        objects="Nr;Name\n1;Ada\n2;Bob\n",
        items="Signatur;Jahr\np;1999\nq;2004\n",
        mentions="wer;was\n1;p\n2;p\n2;q\n",
    )
    corpus, said = read(paths)
    assert corpus.mentions.num_rows == 3
    assert "columns of mentions: item='was' (guessed), object='wer' (guessed)" in said


def words(number: int) -> str:
    return f"the {number} quick brown foxes jump over {number} lazy dogs in the green garden"


def test_a_column_of_long_texts_is_the_text(tmp_path):
    rows = "".join(f"n{i},{'xy'[i % 2]},{words(i)}\n" for i in range(30))
    paths = put(tmp_path, nodes=f"id,city,description\n{rows}", links="from,to\nn0,n1\n")
    corpus, said = read(paths)
    assert corpus.items["text"].to_pylist()[3] == words(3)
    assert corpus.attributes == ("city",)
    assert "columns of nodes: id='id' (guessed), text='description' (guessed)" in said
    corpus, said = read(paths, columns={"text": "city"})
    assert corpus.attributes == ("description",)
    assert "columns of nodes: id='id' (guessed), text='city' (given)" in said


def test_short_or_repeated_texts_are_no_text(tmp_path):
    rows = "".join(f"n{i},label number {i},{words(i % 3)}\n" for i in range(30))
    corpus, _ = read(put(tmp_path, nodes=f"id,short,often\n{rows}", links="from,to\nn0,n1\n"), columns={"name": ""})
    assert corpus.attributes == ("short", "often")


FIRMS = "".join(
    f"K{i};c{i}@firm.de;{i}.1.2020;{i},5;A|B|{'CD'[i % 2]};Firma Nr. {i};{['Ulm', 'Bonn'][i % 2]};{chr(64 + i) * 3}"
    f" & Co.;{words(i)}\n"
    for i in range(1, 25)
)
HEAD = "Nr;Mail;seit;Umsatz;Arten;Titelzeile;Ort;Firma;Beschreibung\n"


def test_the_short_texts_nearest_to_unique_are_the_names(tmp_path):
    paths = put(tmp_path, nodes=HEAD + FIRMS, links="von;an\nK1;K2\nK3;K1\n")
    corpus, said = read(paths)
    told = "columns of nodes: id='Nr' (guessed), text='Beschreibung' (guessed), name='Firma' (guessed)"
    assert told in said
    assert corpus.objects["name"].to_pylist()[:2] == ["AAA & Co.", "BBB & Co."]
    assert corpus.attributes == ("Mail", "seit", "Umsatz", "Arten", "Titelzeile", "Ort")
    corpus, said = read(paths, columns={"name": "Titelzeile"})
    assert corpus.objects["name"][0].as_py() == "Firma Nr. 1"
    corpus, said = read(paths, separators={"Firma": "&"}, columns={"nodes.id": "Nr"})
    assert corpus.objects["name"][0].as_py() == "Firma Nr. 1"


def test_a_few_rows_have_names_of_two_words_or_more(tmp_path):
    few = HEAD + "".join(FIRMS.splitlines(keepends=True)[:5])
    corpus, _ = read(put(tmp_path, nodes=few, links="von;an\nK1;K2\nK3;K1\n"))
    assert corpus.objects["name"][0].as_py() == "AAA & Co."
    corpus, _ = read(put(tmp_path, nodes=few.replace(" & Co.", ""), links="von;an\nK1;K2\nK3;K1\n"))
    assert "Firma" in corpus.attributes


def test_texts_that_come_again_are_no_names(tmp_path):
    rows = "".join(f"n{i},town {'abcdefgh'[i % 8]}\n" for i in range(40))
    corpus, _ = read(put(tmp_path, nodes=f"id,place\n{rows}", links="from,to\nn0,n1\n"))
    assert corpus.attributes == ("place",)


def test_an_id_that_comes_twice_or_is_empty_is_said_though_its_column_is_guessed(tmp_path):
    links = "von;an\nK1;K2\nK3;K1\nK4;K2\n"
    again = refusal(put(tmp_path, nodes=HEAD + FIRMS + FIRMS.splitlines()[6] + "\n", links=links))
    assert again.startswith("nodes.csv line 26: 'Nr' is 'K7' again (as in nodes.csv line 8), expected every id once")
    corpus, said = read(put(tmp_path, nodes=HEAD + FIRMS + ";;;300,5;;;;;\n", links=links))
    assert len(corpus.objects) == 24 and corpus.dropped == {"nodes without an id": 1}
    assert any(line.endswith("(nodes.csv line 26: 'Nr' is empty, expected an id)") for line in said)


@pytest.mark.parametrize(
    ("name", "text", "attributes"),
    [
        ("edges.csv", "x,y\na,b\nb,c\nc,a\n", ()),
        ("who.csv", "source,target\na,b\nb,c\nc,a\n", ()),
        ("who.csv", "one;other\na;b\nb;c\nc;a\n", ()),
        ("who.txt", "# my friends\n1 2\n2 3\n3 1\n", ()),
        ("who.csv", "one,other,times\na,b,1\nb,c,2\nc,a,7\n", ()),
        ("who.csv", "buyer,product\na,x\na,y\nb,y\n", ()),
        ("who.csv", "von;an;Datum\na;b;1.2.2020\nb;c;3.4.2021\nc;a;13.4.2021\n", ("Datum",)),
        ("edges.csv", "Nr,wer,wen,Art\n7,a,b,x\n8,b,c,x\n9,c,a,y\n", ("Nr", "Art")),
        ("votes.csv", "from,to,year,points\na,b,1975,12\na,a,1975,0\nb,c,1975,8\nc,a,1976,10\n", ("year",)),
    ],
)
def test_a_table_of_links_alone_is_a_network_and_its_other_columns_are_attributes(tmp_path, name, text, attributes):
    (tmp_path / name).write_text(text, encoding="utf-8")
    corpus, said = read([tmp_path / name])
    assert corpus.links.num_rows == 3
    assert corpus.attributes == attributes
    assert f"{name} is taken for links alone (guessed)" in said
    without = f"{name}: no column describes the links, so there are no dimensions: give a table of nodes, too"
    assert (without in said) == (not attributes)
    if attributes:
        assert (corpus.items.num_rows, corpus.mentions.num_rows) == (3, 6)
        assert corpus.items["item"][0].as_py().endswith(" (1)")


def test_links_alone_have_weights_times_and_other_columns(tmp_path):
    ends = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("b", "a")]
    rows = "".join(f"{a};{b};{i},5;{i}.3.2020;{'xy'[i % 2]}\n" for i, (a, b) in enumerate(ends, start=1))
    (tmp_path / "Lieferungen.csv").write_text(f"von;an;Menge;Datum;Art\n{rows}Summe;;17,5;;\n", encoding="utf-8")
    corpus, said = read([tmp_path / "Lieferungen.csv"])
    assert "Lieferungen.csv is taken for links alone (guessed)" in said
    assert corpus.links["weight"].to_pylist() == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert str(corpus.links["time"][2]) == "2020-03-03"
    assert any(line == "columns of links that may become dimensions: 'Art'" for line in said)


def test_a_table_of_nodes_with_two_places_each_is_not_links(tmp_path):
    rows = "".join(f"p{i};{['Ulm', 'Bonn', 'Hof'][i % 3]};{['Bonn', 'Ulm'][i % 2]};{1980 + i}\n" for i in range(9))
    (tmp_path / "x.csv").write_text(f"Person;wohnt;stammt;Jahr\n{rows}", encoding="utf-8")
    assert read([tmp_path / "x.csv"])[0].attributes == ("wohnt", "stammt", "Jahr")


def test_a_single_table_of_nodes_is_read_as_links_where_the_caller_names_the_ends(tmp_path):
    (tmp_path / "x.csv").write_text("code,city\na,Rome\nb,Oslo\n", encoding="utf-8")
    assert read([tmp_path / "x.csv"])[0].links.num_rows == 0
    corpus, _ = read([tmp_path / "x.csv"], columns={"source": "code", "target": "city"})
    assert links(corpus) == {("a", "Rome"): 1.0, ("b", "Oslo"): 1.0}


def test_a_column_that_is_misspelled_gets_a_hint(tmp_path):
    paths = put(tmp_path, nodes="id,city\na,Rome\nb,Oslo\n", links="from,to\na,b\n")
    assert refusal(paths, columns={"links.source": "form"}) == (
        "links.csv has no column 'form' (given as source): it has 'from', 'to' "
        "(did you mean columns={'links.source': 'from'}?)"
    )


def test_a_file_that_is_not_there_is_said_before_anything_else(tmp_path: Path):
    assert refusal([tmp_path / "no.csv"]).startswith("there is no file ")
