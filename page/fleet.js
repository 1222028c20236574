// SPDX-License-Identifier: BSD-3-Clause
// The agents of a plan: their ports, who has leased them, and how far their clocks may differ, as `framegauge fleet`
// prints them. They are asked again every three seconds, and each answer has its time.
import { html } from "./htm-preact.js";
import { sentence, useAnswer, Waiting } from "./common.js";

const EVERY_MS = 3000;
const MAX_ROWS = 200;
const STATES = { free: "good", draining: "warning", running: "accent" };

function Port({ agent, port }) {
  const state = agent.draining && port.state === "free" ? "draining" : port.state;
  const ends = port.remaining_s != null ? Math.ceil(port.remaining_s) + " s" : port.by ? "with its trial" : "-";
  return html`<tr><td>${agent.name}/${port.port}</td><td class="text wide"><small>${port.device}</small></td>
    <td class=${"text " + (STATES[state] ?? "")}>${state}</td><td class="text">${port.by ?? "-"}</td>
    <td class="wide">${port.trial ?? "-"}</td><td>${ends}</td></tr>`;
}

function Agent({ agent }) {
  return agent.problem
    ? html`<tr><td>${agent.name}</td><td class="text bad reason" colspan="5">${agent.problem}</td></tr>`
    : agent.ports.map((port) => html`<${Port} agent=${agent} port=${port} />`);
}

function Clocks({ list }) {
  return list.length > 0 && html`<h2>Clocks</h2><div class="wrap" tabindex="0"><table id="clocks"><thead><tr>
    <th>agents</th><th class="text wide">sources</th><th class="text">one-way delays</th></tr></thead>
  <tbody>${list.slice(0, MAX_ROWS).map((one) => html`<tr><td>${one.agents.join(", ")}</td>
    <td class="text wide">${one.sources.join(", ")}</td><td class="text reason">${one.finding}</td></tr>`)}</tbody>
  </table></div>
  ${list.length > MAX_ROWS && html`<p class="muted">The first ${MAX_ROWS} of ${list.length} pairs.</p>`}`;
}

export function Fleet() {
  const { data, problem } = useAnswer("fleet", EVERY_MS);
  if (!data) {
    return html`<${Waiting} problem=${problem} />`;
  }
  const missing = data.agents.filter((agent) => agent.problem).length;
  return html`<h2>Agents</h2>
  <p id="fleet-age" class=${problem ? "problem" : "muted"}>
    ${problem ? sentence(problem) + " Last answer" : "Asked"} at ${new Date(data.time_ms).toLocaleTimeString("en-GB")}.${" "}
    ${missing > 0 && html`<strong class="bad">Without an answer: ${missing} of ${data.agents.length}.</strong>`}</p>
  <div class="wrap" tabindex="0"><table id="agents"><thead><tr><th>port</th><th class="text wide">device</th>
    <th class="text">state</th><th class="text">leased by</th><th class="wide">trial</th><th>ends in</th></tr></thead>
  <tbody>${data.agents.map((agent) => html`<${Agent} key=${agent.name} agent=${agent} />`)}</tbody></table></div>
  <${Clocks} list=${data.clocks} />`;
}
