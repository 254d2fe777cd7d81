"""Make the bundled table of word vectors from a GloVe file.

    python scripts/make_words.py GLOVE ACL [--out FOLDER]

GLOVE is a file in the text format of GloVe, most frequent words first; ACL is the tar.xz of the ACL Anthology. Both
default to their places in CUBE2NET_DATA. It keeps, in the order of the file: all years from 1900 to 2030, words for
kinds of shops, films and sciences (LABELS), words in names of venues, words in at least three titles since 2016 (facts
from CC BY 4.0 papers), and the most frequent other words, 22,000 in total. Writes words.txt, one word per line, and
words.npy in half precision.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tarfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from cube2net.vectors.glove import WordTable, read_words

DATA = Path(os.environ.get("CUBE2NET_DATA", "data"))
OUT = Path(__file__).parents[1] / "src" / "cube2net" / "data"
YEARS = [str(year) for year in range(1900, 2031)]
LABELS = """
    acupuncture acai aerobics afghan allergists anime appetizers arcades archery argentine auctions audiologist
    audiology bagels bakeries barbecue barber barbers barbershop barbeque biopic bistro bistros blockbuster bowling
    boxing brasserie breweries brewery brunch buffet buffets burgers burlesque burrito butcher cafeteria cajun candle
    cannabis cantonese cardiologist cardiology carpenters carpet caribbean catering cheesesteak chiropractor
    chiropractors cinematic cleaners cocktail cocktails coffee colombian comedies comics cookie cosmetics cosplay
    creperie crepes cuisine cuban cupcakes deli delicatessen delis dentist dentistry dentists dermatologist
    dermatologists dermatology diner diners docudrama donut donuts dumplings dystopian ecology epidemiology epigenetic
    espresso ethiopian eyebrow eyelash falafel fondue florist florists gastroenterologist gastropub gelato genomics
    gluten golf grocery gym gymnastics gyms gynecologist hair haircut halal handyman hardware hawaiian heist
    hookah horror hostel hostels immunology italian jewelry juice karaoke kebab kickboxing kinase kosher landscaping
    laser laundry limousine locksmith locksmiths lounge makeup malware manicure massage masseuse mediterranean metabolic
    microbiology mockumentary museums musicals naturopathic neurology neuroscience nightclub nightclubs noodles
    obstetrician oncology ophthalmology optometrist optometrists orthodontist orthodontists orthopedic painters
    paranormal pastry pawn pediatrician pediatricians pediatrics pedicure peruvian pharmacies pharmacy photography
    physiotherapy pilates pizzeria plumbers plumbing podiatrist polish proteomics psychiatrist psychologist pub pubs
    ramen realtor realtors reiki restaurants roofing romcom salad salon salons salsa sandwiches sashimi scuba seafood
    sequel shawarma sichuan slapstick slasher smoothies spa spas spooky steakhouse steakhouses sushi swashbuckler
    szechuan tacos tailor tanning tapas taqueria tattoo teahouse tearjerker telenovela teriyaki thai therapist
    therapists thriller thrillers toxicology transcriptomics trattoria upholstery urologist vampire vampires vegan
    vegetarian veterinarian veterinarians vietnamese vineyards virology waxing weddings werewolf western westerns
    whodunit wineries winery wings yoga yogurt zombie zombies zoology
"""
PIECE = re.compile(r"[^\W_]+")
GENERAL = re.compile(r"[^\W\d_]{2,}(?:[-'][^\W\d_]{2,})*")


def research_words(path: Path, since: int, least: int) -> set[str]:
    """Return the words in names of venues, and those in at least ``least`` titles ``since`` a year."""
    titles: Counter[str] = Counter()
    names: set[str] = set()
    with tarfile.open(path) as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            if file is not None and entry.name.endswith("venues.json"):
                for venue in json.load(file).values():
                    names.update(PIECE.findall(venue["name"].lower()))
            elif file is not None and entry.name.endswith(".xml"):
                for volume in ET.parse(file).getroot().iter("volume"):
                    if int(volume.findtext("meta/year") or 0) >= since:
                        for title in volume.iterfind("paper/title"):
                            titles.update(set(PIECE.findall("".join(title.itertext()).lower())))
    return names | {word for word, count in titles.items() if count >= least}


def choose(table: WordTable, wanted: set[str], count: int) -> np.ndarray:
    """Return the rows to keep, ascending: all wanted words, then the most frequent ones."""
    words = table.words.to_pylist()
    kept = {row for row, word in enumerate(words) if word in wanted}
    for row, word in enumerate(words):
        if len(kept) >= count:
            break
        if GENERAL.fullmatch(word):
            kept.add(row)
    return np.array(sorted(kept))


def main() -> None:
    """Read the arguments and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("glove", nargs="?", type=Path, default=DATA / "glove" / "glove.6B.50d.top150k.txt.xz")
    parser.add_argument("acl", nargs="?", type=Path, default=DATA / "acl" / "acl-anthology-2026-08.tar.xz")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--count", type=int, default=22_000)
    options = parser.parse_args()
    table = read_words(options.glove, cache=False)
    missing = [year for year, row in zip(YEARS, table.rows(YEARS), strict=True) if row < 0]
    if missing:
        raise SystemExit(f"the table has no vectors for the years {', '.join(missing)}")
    research = research_words(options.acl, since=2016, least=3)
    rows = choose(table, {*YEARS, *LABELS.split(), *research}, options.count)
    values = table.values[rows].astype("<f2")
    (options.out / "words.txt").write_text("\n".join(table.words.take(rows).to_pylist()) + "\n", encoding="utf-8")
    np.save(options.out / "words.npy", values)
    size = sum((options.out / name).stat().st_size for name in ("words.txt", "words.npy"))
    print(f"{len(rows):,} words of {len(table):,}, {size / 1e6:.2f} MB; {len(research):,} research words asked for")
    print(f"the least frequent of them is number {rows[-1]:,}: {table.words[int(rows[-1])].as_py()!r}")


if __name__ == "__main__":
    main()
