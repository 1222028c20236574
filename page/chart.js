// SPDX-License-Identifier: BSD-3-Clause
// Rates of the ports over the last 15 minutes. A time without data stays a gap, and is shaded.
import { html, useEffect, useRef } from "./htm-preact.js";

const GAP = 2; // seconds without a point
const COLOURS = 6;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Columns of uPlot: time, then the values at `offset` of each port; a gap becomes a null.
export function columns(points, ports, offset) {
  const data = [[], ...Array.from({ length: ports }, () => [])];
  points.forEach((point, i) => {
    if (i > 0 && point[0] - points[i - 1][0] > GAP) {
      data.forEach((list, k) => list.push(k === 0 ? points[i - 1][0] + GAP / 2 : null));
    }
    data[0].push(point[0]);
    for (let k = 0; k < ports; k++) {
      const bps = point[1 + 2 * k + offset];
      data[k + 1].push(bps == null ? null : bps / 1e6);
    }
  });
  return data;
}

// Times without data, each { from, to }.
export function gaps(points) {
  return points.flatMap(([to], i) => (i > 0 && to - points[i - 1][0] > GAP ? [{ from: points[i - 1][0], to }] : []));
}

// A band for each gap: where a line lies at 0, its end alone is not seen.
function shade({ ctx, bbox, valToPos }, list) {
  ctx.save();
  ctx.fillStyle = colour("--gap");
  for (const { from, to } of list) {
    const left = Math.max(bbox.left, valToPos(from, "x", true));
    ctx.fillRect(left, bbox.top, Math.max(0, valToPos(to, "x", true) - left), bbox.height);
  }
  ctx.restore();
}

function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

function options(width, names, shown) {
  const grid = { stroke: colour("--grid"), width: 1 };
  const axis = { stroke: colour("--muted"), grid, ticks: { show: false } };
  return {
    hooks: { drawClear: [(plot) => shade(plot, gaps(shown.current))] },
    width, height: 170, cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (u, low, high) => [0, Math.max(high * 1.05, 1)] } },
    axes: [
      { ...axis, space: 90, size: 28, values: (u, list) => list.map(clock) },
      { ...axis, size: 64, values: (u, list) => list.map((v) => v.toLocaleString("en")) },
    ],
    series: [
      { value: (u, t) => (t ? clock(t) : "-") },
      ...names.map((label, i) => ({
        label, stroke: colour("--s" + (i % COLOURS + 1)), width: 1.5, spanGaps: false, points: { show: false },
        value: (u, v) => (v == null ? "-" : v.toFixed(1)),
      })),
    ],
  };
}

export function Chart({ title, points, names, offset }) {
  const place = useRef(), plot = useRef(), shown = useRef(points);
  shown.current = points;
  useEffect(() => {
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(place.current.clientWidth, names, shown),
        columns(shown.current, names.length, offset), place.current);
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    make();
    addEventListener("resize", make);
    dark.addEventListener("change", make);
    return () => {
      removeEventListener("resize", make);
      dark.removeEventListener("change", make);
      plot.current.destroy();
    };
  }, [names.join()]);
  useEffect(() => {
    const data = columns(points, names.length, offset);
    plot.current.setData(data);
    if (plot.current.cursor.idx == null) { // nobody points at a time: the legend has the last one
      queueMicrotask(() => plot.current?.setLegend({ idx: data[0].length - 1 }));
    }
  }, [points]);
  return html`<div class="chart"><h3>${title}</h3><div ref=${place}></div></div>`;
}
