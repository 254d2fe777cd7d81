"""The script of the report: draws the figures that stand beside it as data, in light and dark colours."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from cube2net.referee.page_looks import DARK

READ_BY_HTML = re.compile("[<>&\u2028\u2029\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
SCRIPT = """
(function () {
  "use strict";
  var dark = matchMedia("(prefers-color-scheme: dark)");
  var narrow = matchMedia("(max-width: 640px)");
  var coarse = matchMedia("(pointer: coarse)");
  var palette = JSON.parse(document.getElementById("palette").textContent);
  var config = {
    displaylogo: false, plotlyServerURL: "", topojsonURL: "",
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]]
  };
  function tinted(value) {
    if (typeof value === "string") { return dark.matches && palette[value] || value; }
    if (Array.isArray(value)) { return typeof value[0] === "number" ? value : value.map(tinted); }
    if (value && typeof value === "object") {
      var copy = {};
      Object.keys(value).forEach(function (key) { copy[key] = tinted(value[key]); });
      return copy;
    }
    return value;
  }
  var plots = Array.prototype.map.call(document.querySelectorAll(".plot"), function (box) {
    var data = document.getElementById(box.dataset.figure);
    return { box: box, figure: JSON.parse(data.textContent), off: {} };
  });
  function shrink(trace, share) {
    if (trace.marker) { trace.marker.size *= share; }
    if (trace.line) { trace.line.width *= share; }
  }
  function draw(plot) {
    var figure = tinted(plot.figure);
    var wide = plot.box.clientWidth;
    var layout = Object.assign({}, figure.layout, { showlegend: false, width: wide });
    var map = layout.yaxis && layout.yaxis.scaleanchor;
    if (narrow.matches) { layout.font = Object.assign({}, layout.font, { size: 11 }); }
    if (map) {
      layout.height = Math.min(layout.height, Math.round(0.85 * wide));
      figure.data.forEach(function (trace) { shrink(trace, Math.min(1, wide / 800)); });
    }
    plot.box.style.minHeight = layout.height + "px";
    if (coarse.matches) { layout.dragmode = false; }
    figure.data.forEach(function (trace) {
      var group = trace.legendgroup;
      if (group && group in plot.off) { trace.visible = !plot.off[group]; }
    });
    return Plotly.react(plot.box, figure.data, layout, config);
  }
  plots.forEach(function (plot) {
    plot.box.textContent = "";
    draw(plot);
    var legend = plot.box.parentNode.querySelectorAll(".legend button");
    Array.prototype.forEach.call(legend, function (button) {
      button.disabled = false;
      button.addEventListener("click", function () {
        var on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        plot.off[button.dataset.group] = !on;
        draw(plot);
      });
    });
  });
  function again() { plots.forEach(draw); }
  dark.addEventListener("change", again);
  var known = innerWidth;
  addEventListener("resize", function () {
    if (innerWidth !== known) { known = innerWidth; again(); }
  });
  addEventListener("beforeprint", again);
})();
"""


def inert_json(data: Any) -> str:
    """Return JSON that no name in it can turn into a tag, for a script element that is not run.

    >>> inert_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    return guarded(json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def guarded(text: str) -> str:
    """Return JSON text with the signs that HTML reads, or cannot hold, written as numbers."""
    return READ_BY_HTML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def palette() -> str:
    """Return what each colour becomes on a dark page, as data for the script."""
    return inert_json(DARK)


def plotly_script() -> str:
    """Return plotly's own script, which comes inside its package."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs()).replace("\r\n", "\n")


def policy(scripts: Iterable[str]) -> str:
    """Return the page's policy: these scripts run and no others, and nothing is loaded from anywhere.

    >>> policy([""])[:83]
    "default-src 'none'; script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    """
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
