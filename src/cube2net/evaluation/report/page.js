// Draws the figures that stand beside it as data, in light and dark colours.
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
