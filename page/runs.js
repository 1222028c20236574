// SPDX-License-Identifier: BSD-3-Clause
// The list of earlier runs: to the report of each, the history of its plan, and what changed since the run before.
// And what was tested in them: devices, by name and firmware.
import { html } from "./htm-preact.js";
import { comparisonOf, count, historyOf, Report, useAnswer, VERDICTS, Waiting, When } from "./common.js";

// The run of the same plan and test before the i-th; the list begins with the newest.
function before(list, i) {
  return list.slice(i + 1).find((run) => run.plan === list[i].plan && run.test === list[i].test);
}

function Run({ run, earlier }) {
  return html`<tr><td><${Report} run=${run.run} text=${run.run} /></td>
    <td class="text"><a href=${historyOf(run.plan)}>${run.plan}</a></td>
    <td class="text wide">${run.test}</td>
    <td class="text wide"><${When} of=${run.started} /></td>
    <td class=${"text " + (VERDICTS[run.validity] ?? "")}>${run.validity}</td>
    <td class=${"text " + (run.outcome === "fail" ? "bad" : "")}>${run.outcome ?? "-"}</td>
    <td class="text">${earlier && html`<a href=${comparisonOf(earlier.run, run.run)}>compare</a>`}</td></tr>`;
}

export function Runs() {
  const { data, problem } = useAnswer("runs");
  if (!data) {
    return html`<${Waiting} problem=${problem} />`;
  }
  return html`<h2>Runs</h2><div class="wrap" tabindex="0"><table id="runs"><thead><tr><th>report</th>
    <th class="text">history of</th><th class="text wide">test</th><th class="text wide">started</th>
    <th class="text">verdict</th><th class="text">outcome</th><th class="text">with the run before</th></tr></thead>
  <tbody>${data.map((run, i) => html`<${Run} key=${run.run} run=${run} earlier=${before(data, i)} />`)}</tbody>
  </table></div>
  ${data.length === 0 && html`<p class="none">No run is in framegauge-runs yet.</p>`}`;
}

function Tested({ one }) {
  return html`<tr><td class="text">${one.firmware ?? "-"}</td>
    <td class="text"><a href=${historyOf(one.plan)}>${one.plan}</a></td>
    <td class="text wide">${one.test}</td><td>${count(one.runs)}</td>
    <td class="text"><${Report} run=${one.run} text=${html`<${When} of=${one.started} />`} /></td>
    <td class=${"text " + (VERDICTS[one.validity] ?? "")}>${one.validity}</td>
    <td class=${"text " + (one.outcome === "fail" ? "bad" : "")}>${one.outcome ?? "-"}</td></tr>`;
}

function Device({ name, list }) {
  return html`<h3>${name ?? html`<span class="muted">without a name (key dut.name of the plan)</span>`}</h3>
  <div class="wrap" tabindex="0"><table class="device-runs"><thead><tr><th class="text">firmware</th>
    <th class="text">history of</th><th class="text wide">test</th><th>runs</th><th class="text">last run</th>
    <th class="text">verdict</th><th class="text">outcome</th></tr></thead>
  <tbody>${list.map((one) => html`<${Tested} one=${one} />`)}</tbody></table></div>`;
}

export function Devices() {
  const { data, problem } = useAnswer("devices");
  if (!data) {
    return html`<${Waiting} problem=${problem} />`;
  }
  const names = [...new Set(data.map((one) => one.device))];
  return html`<h2>Devices under test</h2>
  ${names.map((name) => html`<${Device} name=${name} list=${data.filter((one) => one.device === name)} />`)}
  ${data.length === 0 && html`<p class="none">No run is in framegauge-runs yet.</p>`}`;
}
