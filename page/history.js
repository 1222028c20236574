// SPDX-License-Identifier: BSD-3-Clause
// The figures of a plan over its runs: the changes that `framegauge history --trend` prints, and a chart of each
// figure with its levels. Runs stand at equal distances, in the order in which they were started.
import { html, useState } from "./htm-preact.js";
import { comparisonOf, date, Figure, MARKS, number, percent, Row, useAnswer, Waiting, When } from "./common.js";

const WIDTH = 360, HEIGHT = 150, LEFT = 8, RIGHT = 8, TOP = 18, BOTTOM = 20;
const MAX_CHARTS = 60;

// Places of the runs and of the values of a series in its chart.
function scales({ points }) {
  const least = Math.min(...points.map((one) => one.low ?? one.value));
  const most = Math.max(...points.map((one) => one.high ?? one.value));
  const span = most - least || Math.abs(most) || 1;
  const step = (WIDTH - LEFT - RIGHT) / points.length;
  return {
    least, most, step, x: (i) => LEFT + (i + 0.5) * step,
    y: (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - least + span * 0.05) / (span * 1.1)),
  };
}

function label(point, run) {
  const low = point.low ?? point.value, high = point.high ?? point.value;
  const bounds = high > low ? ` (${number(low)} to ${number(high)})` : "";
  return [date(run.started), run.device, run.firmware, number(point.value) + bounds].filter(Boolean).join(", ");
}

// All bounds are one path, and so are all dots: thousands of elements take longer to draw.
function whiskers(points, x, y) {
  return points.map((one, i) => `M${x(i)} ${y(one.low ?? one.value)}V${y(one.high ?? one.value)}`).join("");
}

function dots(points, x, y) {
  return points.map((one, i) => `M${x(i)} ${y(one.value)}h0`).join("");
}

function Drawing({ series, runs }) {
  const [near, setNear] = useState(-1); // the run below the pointer
  const { x, y, step, least, most } = scales(series);
  const { points, levels, changes } = series, of = ({ run }) => runs[run - 1];
  const says = `${series.name}, ${series.heading}: ${points.length} runs, ${changes.length} changes`;
  const seek = ({ clientX, currentTarget }) => {
    const box = currentTarget.getBoundingClientRect();
    const i = Math.floor((((clientX - box.left) / box.width) * WIDTH - LEFT) / step);
    setNear(Math.max(0, Math.min(points.length - 1, i)));
  };
  return html`<svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${says} onPointerMove=${seek}
    onPointerDown=${seek} onPointerLeave=${() => setNear(-1)}>
    ${changes.map((one) => html`<line class=${"change " + MARKS[one.mark]} x1=${x(one.at - 1.5)} x2=${x(one.at - 1.5)}
      y1=${TOP} y2=${HEIGHT - BOTTOM} />`)}
    ${levels.map((one) => html`<line class="level" x1=${x(one.from - 1) - step / 2} x2=${x(one.to - 1) + step / 2}
      y1=${y(one.mean)} y2=${y(one.mean)} />`)}
    <path class="whisker" d=${whiskers(points, x, y)} />
    <path class="points" d=${dots(points, x, y)} />
    ${near >= 0 && html`<circle class="near" cx=${x(near)} cy=${y(points[near].value)} r="4.5" />`}
    <text x=${LEFT} y="12">${least === most ? number(most) : `${number(least)} to ${number(most)}`}</text>
    <text x=${LEFT} y=${HEIGHT - 5}>${date(of(points[0]).started).split(" ")[0]}</text>
    ${points.length > 1 && html`<text class="end" x=${WIDTH - RIGHT} y=${HEIGHT - 5}>
      ${date(of(points[points.length - 1]).started).split(" ")[0]}</text>`}</svg>
  <p class="run muted">${near >= 0 ? label(points[near], of(points[near])) : "\u00a0"}</p>`;
}

function Series({ series, runs }) {
  return html`<figure class="series"><figcaption><strong>${series.name}</strong><br />
    ${series.title !== series.heading && series.title + ": "}${series.heading} <small class="muted">${series.figure}</small></figcaption>
  ${series.points.length > 0 ? html`<${Drawing} series=${series} runs=${runs} />`
    : html`<p class="none">No run has a figure that is the device's.</p>`}</figure>`;
}

function Change({ series, change, of, runs }) {
  const earlier = runs[series.points[change.at - 2].run - 1].folder;
  return html`<tr><${Row} name=${series.name} heading=${series.heading} unit="" />
    <td class=${"text " + MARKS[change.mark]}>${change.mark}</td>
    <td class="text"><a href=${comparisonOf(earlier, change.folder)}><${When} of=${change.started} /></a></td>
    <td class="wide">${change.runs}</td>
    <${Figure} wide of=${of + ".before"} value=${change.before} text=${number(change.before)} />
    <${Figure} of=${of + ".after"} value=${change.after} text=${number(change.after)} />
    <td>${percent(change.change_percent)}</td>
    <td class="text wide device">${change.device}</td></tr>`;
}

function Changes({ list, runs }) {
  const lines = list.flatMap((series, i) => series.changes.map((change, k) => ({ series, change, of: `${i}.${k}` })));
  if (lines.length === 0) {
    return html`<p class="none">The level of no figure changed.</p>`;
  }
  return html`<div class="wrap" tabindex="0"><table id="changes"><thead><tr><th>figure</th><th class="text">verdict</th>
    <th class="text">since</th><th class="wide">runs since</th><th class="wide">before</th><th>after</th><th>%</th>
    <th class="text wide">device</th></tr></thead>
  <tbody>${lines.map((one) => html`<${Change} key=${one.of} ...${one} runs=${runs} />`)}</tbody></table></div>`;
}

export function History({ plan }) {
  const { data, problem } = useAnswer("history?plan=" + encodeURIComponent(plan));
  const [wanted, want] = useState("");
  if (!data) {
    return html`<${Waiting} problem=${problem} />`;
  }
  const fits = (one) => `${one.title} ${one.name} ${one.heading} ${one.figure}`.toLowerCase().includes(wanted);
  const list = data.series.filter(fits), left = data.series.reduce((sum, one) => sum + one.left_out, 0);
  return html`<h2>History of ${plan}</h2><${Changes} list=${data.series} runs=${data.runs} />
  <h2>Figures</h2><div class="row"><input type="search" aria-label="filter" placeholder="filter"
    onInput=${(e) => want(e.target.value.toLowerCase())} />
    <span class="muted">${Math.min(list.length, MAX_CHARTS)} of ${data.series.length}.
      ${left > 0 && ` Left out, because not the device's: ${left}.`}</span></div>
  <div class="all-series">${list.slice(0, MAX_CHARTS).map((one) => html`
    <${Series} key=${one.title + one.name + one.figure} series=${one} runs=${data.runs} />`)}</div>`;
}
