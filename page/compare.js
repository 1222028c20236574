// SPDX-License-Identifier: BSD-3-Clause
// Two runs side by side: the figures, marks and texts of `framegauge compare`.
import { html, useState } from "./htm-preact.js";
import { comparisonOf, date, Figure, historyOf, MARKS, percent, Row, useAnswer, Waiting } from "./common.js";

function Choice({ label, value, runs, onChoose }) {
  return html`<label>${label} <select onChange=${(e) => onChoose(e.target.value)}>
    ${runs.map((run) => html`<option value=${run.run} selected=${run.run === value}>
      ${run.run}, ${date(run.started)}</option>`)}</select></label>`;
}

// Any other run of the same test.
function Choices({ before, after }) {
  const { data = [] } = useAnswer("runs");
  const own = data.find((run) => run.run === after);
  const runs = data.filter((run) => run.test === own?.test);
  const go = (one, other) => { location.hash = comparisonOf(one, other); };
  return own && html`<div class="row">
    <${Choice} label="Before" value=${before} runs=${runs} onChoose=${(name) => go(name, after)} />
    <${Choice} label="After" value=${after} runs=${runs} onChoose=${(name) => go(before, name)} />
    <a href=${historyOf(own.plan)}>history of ${own.plan}</a></div>`;
}

function Line({ line, of }) {
  return html`<tr><${Row} name=${line.name} heading=${line.heading} unit=${line.unit} />
    <td class=${"text " + (MARKS[line.mark] ?? "muted")}>${line.mark}</td>
    <${Figure} of=${of + ".before"} value=${line.before} text=${line.before_text ?? "-"} />
    <${Figure} of=${of + ".after"} value=${line.after} text=${line.after_text ?? "-"} />
    <${Figure} wide of=${of + ".change"} value=${line.change} text=${line.change_text ?? "-"} />
    <td>${percent(line.change_percent)}</td><td class="wide">${line.resolution_text ?? "-"}</td></tr>`;
}

function Table({ table, number, all }) {
  const lines = table.lines.map((line, i) => ({ line, of: `${number}.${i}` }))
    .filter(({ line }) => all || line.mark !== "same");
  return lines.length > 0 && html`<h3>${table.title}</h3><div class="wrap" tabindex="0"><table class="comparison"><thead><tr>
    <th>figure</th><th class="text">verdict</th><th>before</th><th>after</th><th class="wide">change</th><th>%</th>
    <th class="wide">resolution</th></tr></thead>
  <tbody>${lines.map((one) => html`<${Line} key=${one.of} ...${one} />`)}</tbody></table></div>`;
}

// Rows that one of both runs alone has.
function Only({ table }) {
  return [["first", table.only_before], ["second", table.only_after]].map(([run, names]) => names.length > 0
    && html`<p>${table.title}, only in the ${run} run: ${names.join("; ")}.</p>`);
}

export function Comparison({ before, after }) {
  const query = `compare?before=${encodeURIComponent(before)}&after=${encodeURIComponent(after)}`;
  const { data, problem } = useAnswer(query);
  const [all, showAll] = useState(false);
  const lines = data ? data.tables.flatMap((table) => table.lines) : [];
  const of = (mark) => lines.filter((line) => line.mark === mark).length;
  return html`<h2>Comparison</h2><${Choices} before=${before} after=${after} />
  ${!data ? html`<${Waiting} problem=${problem} />` : html`
  ${data.judged === 0 && html`<p><strong class="warning">Nothing could be compared.</strong></p>`}
  <p id="judgement"><strong class=${data.worse > 0 ? "bad" : "good"}>Worse: ${data.worse}.</strong>${" "}
    Better: ${of("better")}. The same within the resolution of both runs: ${of("same")}.
    Not judged: ${of("not judged")}.</p>
  <label><input type="checkbox" checked=${all} onChange=${(e) => showAll(e.target.checked)} /> show what is the
    same, too</label>
  ${data.tables.map((table, i) => html`<${Table} key=${i} number=${i} table=${table} all=${all} />
    <${Only} table=${table} />`)}
  ${data.differences.length > 0 && html`<h3>The plans differ</h3>
    <ul>${data.differences.map((text) => html`<li>${text}</li>`)}</ul>`}`}`;
}
