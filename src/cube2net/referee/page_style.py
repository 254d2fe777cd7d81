"""How the report looks: light and dark, wide and narrow, on a screen and on paper."""

from cube2net.referee.page_looks import CELL, DARK, LABELS, PAPER, RIM

_LIGHT_LABELS = "".join(f"--label{number}:{colour};" for number, colour in enumerate(LABELS))
_DARK_LABELS = "".join(f"--label{number}:{DARK.get(colour, colour)};" for number, colour in enumerate(LABELS))
_LABELS = "\n".join(f".closeup .label{n} :is(circle, rect) {{ fill: var(--label{n}); }}" for n in range(len(LABELS)))

STYLE = f"""
:root {{
  color-scheme: light dark;
  --page: #f7f6f2; --paper: {PAPER}; --ink: #1f2328; --muted: #63676e; --line: #e3e1dc; --rim: {RIM};
  --accent: #0b63a5; --good: #0b7a57; --good-paper: #e2f3ec; --even: #7a5b00; --even-paper: #f8efd6;
  --bad: #b23b12; --chosen: #eef5fb; --cell: {CELL}; {_LIGHT_LABELS}
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif;
  --serif: ui-serif, "Iowan Old Style", Charter, "Bitstream Charter", "Source Serif 4", Cambria, Georgia, serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --page: #131518; --paper: {DARK[PAPER]}; --ink: #e8e6e1; --muted: #a3a6ab; --line: #34373c; --rim: {DARK[RIM]};
    --accent: #6db7f2; --good: #5fd3a9; --good-paper: #14342a; --even: #e5c566; --even-paper: #372e12;
    --bad: #f0906a; --chosen: #1f2d3a; --cell: {DARK[CELL]}; {_DARK_LABELS}
  }}
}}
* {{ box-sizing: border-box; }}
html {{ -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }}
body {{
  margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 var(--sans);
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}}
header, main, footer {{ max-width: 1180px; margin: 0 auto; padding: 0 clamp(16px, 3vw, 32px); }}
header {{ padding-top: clamp(28px, 5vw, 64px); }}
h1 {{
  font: 600 clamp(1.45rem, 1rem + 2vw, 2.5rem)/1.22 var(--serif); letter-spacing: -0.012em; margin: 14px 0 0;
  max-width: 32em; text-wrap: pretty;
}}
h1::first-letter {{ text-transform: uppercase; }}
h2 {{ font: 600 1.45rem/1.25 var(--serif); letter-spacing: -0.006em; margin: 0 0 14px; }}
h3 {{ font-size: 1rem; line-height: 1.3; margin: 0 0 6px; }}
p {{ margin: 0 0 12px; max-width: 46em; }}
a {{ color: var(--accent); text-underline-offset: 3px; }}
.eyebrow {{ display: flex; flex-wrap: wrap; gap: 10px; align-items: center; margin: 0; color: var(--muted);
  font-size: 0.875rem; max-width: none; }}
.pill {{ padding: 2px 12px; border-radius: 99px; font-weight: 600; background: var(--even-paper); color: var(--even); }}
.pill.helps {{ background: var(--good-paper); color: var(--good); }}
.facts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 190px), 1fr)); gap: 18px 28px;
  margin: 30px 0 0; padding: 20px 0 0; border-top: 1px solid var(--line); }}
.facts div {{ min-width: 0; }}
dt {{ color: var(--muted); font-size: 0.8125rem; }}
dd {{ margin: 0; }}
.facts dd {{ font-size: 1.25rem; font-weight: 600; line-height: 1.35; }}
.facts dd small {{ display: block; font-weight: 400; font-size: 0.8125rem; color: var(--muted); }}
.facts dd.words {{ font-size: 1rem; }}
nav {{ margin: 26px 0 0; font-size: 0.9rem; }}
nav ul {{ display: flex; flex-wrap: wrap; gap: 4px 20px; list-style: none; margin: 0; padding: 0; }}
.facts.small {{ border: 0; margin: 0; padding: 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 220px), 1fr)); }}
.facts.small dd {{ font-size: 1rem; font-weight: 500; }}
.gap {{ margin: 26px 0 8px; }}
section .scroll + figure, section .note + figure, figure + figure {{ margin-top: 22px; }}
.pair > figure {{ margin-top: 0 !important; }}
section {{ margin: clamp(36px, 5vw, 60px) 0 0; scroll-margin-top: 16px; }}
.lead, .note, .why, .ends, .empty {{ color: var(--muted); }}
.lead {{ margin-bottom: 16px; }}
.note {{ font-size: 0.8125rem; line-height: 1.5; margin: 10px 0 0; max-width: 62em; }}
.card {{ background: var(--paper); border: 1px solid var(--line); border-radius: 10px; }}
.scroll {{ overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  overscroll-behavior-x: contain; }}
.scroll:focus-visible, summary:focus-visible, button:focus-visible, a:focus-visible {{
  outline: 2px solid var(--accent); outline-offset: 2px; }}
table {{ border-collapse: separate; border-spacing: 0; width: 100%; font-size: 0.875rem; line-height: 1.35; }}
th, td {{ padding: 7px 10px; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line);
  overflow-wrap: normal; }}
tbody :is(th, td) {{ vertical-align: middle; }}
tbody tr:last-child > * {{ border-bottom: 0; }}
thead th {{ font-weight: 500; color: var(--muted); white-space: nowrap; vertical-align: bottom; font-size: 0.8125rem; }}
thead th.g {{ text-align: left; color: var(--ink); font-weight: 600; border-left: 1px solid var(--line); }}
tbody th {{ font-weight: 500; min-width: 150px; max-width: 300px; overflow-wrap: anywhere; }}
td {{ max-width: 340px; }}
tbody th, thead tr:first-child > th:first-child {{ position: sticky; left: 0; background: var(--paper); z-index: 1; }}
table.setups :is(tbody th, thead tr:first-child > th:first-child) {{ box-shadow: 1px 0 0 var(--line); }}
.scroll:has(> table.ranks) {{ width: fit-content; max-width: 100%; }}
table.ranks {{ width: auto; min-width: min(100%, 720px); }}
table.ranks tbody th {{ min-width: 0; width: 4em; color: var(--muted); }}
.n {{ text-align: right; white-space: nowrap; }}
thead th.g ~ th, td.first {{ border-left: 1px solid var(--line); }}
td .ends {{ display: block; font-size: 0.75rem; }}
td.best .mean {{ font-weight: 750; }}
td.best {{ color: var(--ink); }}
tr.chosen > * {{ background: var(--chosen); }}
tr.peer > th {{ padding-left: 28px; font-weight: 400; color: var(--muted); }}
tr.peer > td {{ color: var(--muted); }}
td.why, .why {{ font-size: 0.8125rem; }}
td.why {{ max-width: none; color: var(--bad); }}
td.why span {{ position: sticky; left: 170px; display: inline-block; max-width: min(72ch, 50vw); }}
th .why {{ display: block; font-weight: 400; }}
.drawn {{ display: flex; gap: 18px; align-items: center; justify-content: flex-end; }}
.drawn .ends {{ display: inline-block; min-width: 9.6em; }}
.whisker {{ flex: none; fill: var(--muted); stroke: var(--muted); stroke-width: 2; }}
.whisker.up {{ fill: var(--good); stroke: var(--good); }}
.whisker.down {{ fill: var(--bad); stroke: var(--bad); }}
.whisker circle {{ stroke: none; }}
.whisker .zero {{ stroke: var(--rim); stroke-width: 1; stroke-dasharray: 2 2; }}
details {{ margin-top: 10px; }}
figure details {{ margin: 2px 0 0 6px; }}
figure summary {{ font-size: 0.8125rem; padding: 2px 0; }}
summary {{ cursor: pointer; color: var(--accent); font-size: 0.9rem; padding: 6px 0; }}
.pair {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 20px; }}
.pair > * {{ min-width: 0; }}
figure {{ margin: 0; min-width: 0; }}
figure.card {{ padding: 16px 16px 12px; }}
.plot {{ width: 100%; min-width: 0; overflow: hidden; }}
.legend {{ display: flex; flex-wrap: wrap; gap: 4px 8px; list-style: none; margin: 8px 0 0; padding: 0; }}
.legend button {{ display: flex; gap: 7px; align-items: baseline; border: 0; background: none; color: inherit;
  font: 0.8125rem/1.3 var(--sans); text-align: left; padding: 3px 6px; border-radius: 6px; cursor: pointer; }}
.legend button:disabled {{ cursor: default; color: inherit; }}
.legend button:not(:disabled):hover {{ background: var(--line); }}
.legend button[aria-pressed="false"] {{ opacity: 0.45; text-decoration: line-through; }}
.swatch {{ flex: none; width: 11px; height: 11px; border-radius: 50%; background: var(--light); align-self: center;
  box-shadow: inset 0 0 0 1px var(--r, transparent); }}
@media (prefers-color-scheme: dark) {{ .swatch {{ background: var(--dark); }} }}
.swatch.square {{ border-radius: 1px; }}
.swatch.line {{ height: 3px; width: 16px; border-radius: 2px; }}
.closeup {{ display: flex; flex-direction: column; }}
.closeup figcaption {{ min-height: 7.5em; }}
.closeup figcaption i {{ color: var(--muted); }}
.cosine {{ font-size: 1.125rem; }}
.cosine span {{ color: var(--muted); font-size: 0.9rem; }}
.closeup svg {{ display: block; width: 100%; min-width: 540px; height: auto; padding: 8px 0; }}
.closeup text {{ font: 14px var(--sans); fill: var(--muted); paint-order: stroke; stroke: var(--paper);
  stroke-width: 3.5px; stroke-linejoin: round; }}
.closeup .pair text {{ font-size: 16px; font-weight: 650; fill: var(--ink); }}
.closeup :is(circle, rect) {{ fill: var(--muted); stroke: var(--paper); stroke-width: 1.2; }}
{_LABELS}
.closeup .other :is(circle, rect) {{ fill: var(--paper); stroke: var(--rim); stroke-width: 1.4; }}
.closeup .cell :is(circle, rect) {{ fill: var(--cell); stroke: var(--rim); stroke-width: 1; }}
.closeup path {{ fill: none; stroke: var(--rim); stroke-opacity: 0.55; stroke-width: 1; }}
.closeup path.inside {{ stroke: var(--muted); stroke-opacity: 0.8; stroke-width: 2.6; }}
pre {{ overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 10px; margin: 0 0 18px;
  padding: 14px 16px; font: 0.875rem/1.5 var(--mono); overflow-wrap: normal; }}
.settings {{ display: grid; grid-template-columns: minmax(7em, auto) minmax(0, 1fr); gap: 6px 22px; margin: 0;
  font-size: 0.9rem; }}
.settings dd {{ font-family: var(--mono); font-size: 0.8125rem; white-space: pre-wrap; }}
footer {{ color: var(--muted); font-size: 0.8125rem; padding-top: 40px; padding-bottom: 48px; }}
@media (max-width: 640px) {{
  th, td {{ padding: 6px 9px; }}
  tbody th {{ min-width: 128px; max-width: 150px; }}
  table.setups {{ font-size: 0.8125rem; }}
  .facts, .facts.small {{ grid-template-columns: 1fr 1fr; gap: 14px 18px; }}
  .drawn {{ gap: 10px; }}
  .whisker {{ width: 84px; }}
  td.why span {{ left: 140px; max-width: 52vw; }}
  .drawn .ends {{ display: block; min-width: 0; }}
  .facts div.wide {{ grid-column: 1 / -1; }}
  .closeup figcaption {{ min-height: 0; }}
  figure.card {{ padding: 12px 10px 10px; }}
}}
@media print {{
  body {{ background: none; font-size: 11pt; }}
  nav, .modebar, .legend button[aria-pressed="false"] {{ display: none; }}
  .scroll {{ overflow: visible; border: 0; }}
  table {{ font-size: 8pt; }}
  thead {{ display: table-header-group; }}
  tr, figure {{ break-inside: avoid; }}
  h2, h3 {{ break-after: avoid; }}
  details::details-content {{ content-visibility: visible; block-size: auto; }}
}}
"""
