// SPDX-License-Identifier: BSD-3-Clause
// The page of a tester: what it does now, its trials, its runs. Figures of now come from /api/v1/events, twice a
// second; a number that is older than three seconds is grey, and the head of the page says so.
import { html, render, useEffect, useState } from "./htm-preact.js";
import { ask, count, Figure, formatter, Report, sentence, VERDICTS } from "./common.js";
import { Chart } from "./chart.js";
import { Comparison } from "./compare.js";
import { Fleet } from "./fleet.js";
import { History } from "./history.js";
import { Devices, Runs } from "./runs.js";

const OLD_MS = 3000;
const MAX_POINTS = 1800;
const MAX_ROWS = 200;

const tenths = formatter({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
const scaled = (value, unit) => (value == null ? "-" : tenths(value / unit));
const mbit = (bps) => scaled(bps, 1e6);
const micro = (ns) => scaled(ns, 1e3);

function seconds(s) {
  if (s < 90) {
    return s.toFixed(0) + " s";
  }
  return s < 5400 ? (s / 60).toFixed(0) + " min" : (s / 3600).toFixed(1) + " h";
}

// The token of the printed URL becomes a cookie, and is gone from the address.
async function enter() {
  const token = location.hash.match(/^#token=([0-9a-f]+)$/)?.[1];
  if (token) {
    await ask("login", { token });
    history.replaceState(null, "", location.pathname + "#now");
  }
  return ask("me");
}

function share(port) {
  return port.line_rate && port.tx_bps != null ? ((port.tx_bps / port.line_rate) * 100).toFixed(1) : "-";
}

function Ports({ state }) {
  return html`<h2>Ports <small class="muted">${state.counts === "test" ? "all trials" : "traffic"}</small></h2>
  <div class="wrap" tabindex="0"><table id="ports">
  <thead><tr><th>port</th><th class="text wide">device</th><th>sent</th><th>sent Mbit/s L1</th>
    <th class="wide">% of line</th><th class="wide">received</th><th>received Mbit/s L1</th>
    <th>missing</th></tr></thead>
  <tbody>${state.ports.map((port) => html`<tr>
    <td>${port.name}</td><td class="text wide"><small>${port.device}</small></td>
    <${Figure} of=${port.name + ".tx"} value=${port.tx} text=${count(port.tx)} />
    <td class="number">${mbit(port.tx_bps)}</td><td class="number wide">${share(port)}</td>
    <${Figure} wide of=${port.name + ".rx"} value=${port.rx} text=${count(port.rx)} />
    <td class="number">${mbit(port.rx_bps)}</td>
    <${Figure} of=${port.name + ".lost"} value=${port.lost} text=${count(port.lost)} /></tr>`)}</tbody>
  </table></div>`;
}

function StreamButtons({ stream, act }) {
  return html`<td class="text">${stream.running
    ? html`<button onClick=${() => act({ stream: "stop", target: stream.name })}>stop</button>`
    : html`<button onClick=${() => act({ stream: "start", target: stream.name })}>start</button>`} ${" "}
    <input aria-label=${"rate of " + stream.name} placeholder=${stream.rate} onKeyDown=${(e) => {
      if (e.key === "Enter" && e.target.value) {
        act({ stream: "rate", target: stream.name, rate: e.target.value });
        e.target.value = "";
      }
    }} /></td>`;
}

function Streams({ state, act }) {
  const [wanted, want] = useState("");
  const list = state.streams.filter((one) => (one.name + " " + one.from + " " + one.to).includes(wanted));
  const may = act && state.counts === "traffic";
  return html`<h2>Streams</h2>
  ${state.all_streams > 8 && html`<div class="row"><input type="search" aria-label="filter" placeholder="filter"
    onInput=${(e) => want(e.target.value)} /><span class="muted">${Math.min(list.length, MAX_ROWS)} of
    ${count(state.all_streams)}</span></div>`}
  <div class="wrap" tabindex="0"><table id="streams">
  <thead><tr><th>stream</th><th class="text wide">ports</th><th class="wide">sent</th><th class="wide">received</th>
    <th>missing</th>
    <th>Mbit/s L1</th><th class="wide">min us</th><th>mean us</th><th class="wide">p99 us</th>
    <th class="wide">max us</th>${may && html`<th class="text">rate</th>`}</tr></thead>
  <tbody>${list.slice(0, MAX_ROWS).map((one) => html`<tr key=${one.name}>
    <td class=${one.running ? "good" : ""}>${one.name}</td>
    <td class="text wide"><small>${one.from} → ${one.to}</small></td>
    <${Figure} wide of=${one.name + ".tx"} value=${one.tx} text=${count(one.tx)} />
    <${Figure} wide of=${one.name + ".rx"} value=${one.rx} text=${count(one.rx)} />
    <${Figure} of=${one.name + ".lost"} value=${one.lost} text=${count(one.lost)} />
    <td class="number">${mbit(one.rx_bps)}</td>
    <td class="number wide">${micro(one.min_ns)}</td><td class="number">${micro(one.mean_ns)}</td>
    <td class="number wide">${micro(one.p99_ns)}</td><td class="number wide">${micro(one.max_ns)}</td>
    ${may && html`<${StreamButtons} stream=${one} act=${act} />`}</tr>`)}</tbody>
  </table></div>
  ${list.length === 0 && html`<p class="none">No stream has been sent yet.</p>`}`;
}

function Job({ job, act }) {
  const e = job.progress;
  const done = e?.left_s == null ? null : e.elapsed_s / Math.max(1e-9, e.elapsed_s + e.left_s);
  const ended = ["done", "stopped", "failed"].includes(job.state);
  return html`<section class="job" aria-label=${"job " + job.id}>
  <p><strong>${job.name}</strong> <span class=${job.state === "failed" ? "bad" : "muted"}>${job.state}</span>${" "}
    ${e?.left_s != null && html`<span class="muted number">${seconds(e.left_s)} left</span>`}</p>
  ${!ended && done != null && html`<progress value=${done} aria-label="progress"></progress>`}
  <p class="number">${job.line}</p>
  <div class="row">
    ${job.trials > 0 && html`<a href=${"#trials=" + job.id}>${count(job.trials)} trials</a>`}
    ${ended && job.run && html`<${Report} run=${job.run} text="report" />`}
    ${act && !ended && !job.is_traffic && html`
      <button onClick=${() => act({ job: job.state === "paused" ? "resume" : "pause", id: job.id })}>
        ${job.state === "paused" ? "resume" : "pause"}</button>
      <button onClick=${() => act({ job: "stop", id: job.id })}>stop</button>`}
  </div></section>`;
}

function Now({ state, points, act, me }) {
  const names = state.ports.map((port) => port.name);
  const jobs = state.jobs.filter((job) => !job.is_traffic).reverse();
  const busy = state.jobs.some((job) => ["running", "paused", "stopping"].includes(job.state));
  return html`
  ${jobs.slice(0, 3).map((job) => html`<${Job} key=${job.id} job=${job} act=${act} />`)}
  ${act && !busy && html`<div class="row">
    <button onClick=${() => act({ test: me.test, quick: true })}>Run ${me.test} quick</button>
    <button onClick=${() => act({ test: me.test })}>Run ${me.test}</button></div>`}
  <${Ports} state=${state} />
  <div class="charts">
    <${Chart} title="Sent, Mbit/s L1" points=${points} names=${names} offset=${0} />
    <${Chart} title="Received, Mbit/s L1" points=${points} names=${names} offset=${1} />
  </div>
  ${state.clock === "wire-free" && html`<p class="muted">The virtual wire runs as fast as the processor: trials have
    no rate in our seconds.</p>`}
  <${Streams} state=${state} act=${act} />`;
}

function Trials({ id, state }) {
  const [list, set] = useState([]);
  const [verdict, choose] = useState("");
  const job = state.jobs.find((one) => one.id === id);
  useEffect(() => {
    if (job && job.trials > list.length) {
      ask(`trials?job=${id}&after=${list.length}`).then((more) => set([...list, ...more])).catch(() => {});
    }
  }, [job?.trials, list.length]);
  const rows = list.filter((one) => !verdict || one.ended.validity === verdict);
  return html`<h2>Trials of ${job ? job.name : "job " + id}</h2>
  <div class="row"><select aria-label="verdict" onChange=${(e) => choose(e.target.value)}>
    <option value="">all verdicts</option>${Object.keys(VERDICTS).map((v) => html`<option>${v}</option>`)}</select>
    <span class="muted">${count(rows.length)} of ${count(list.length)}</span></div>
  <div class="wrap" tabindex="0"><table id="trials"><thead><tr><th>trial</th><th class="text">test</th><th>bytes</th>
    <th>frames/s</th><th class="wide">% of line</th><th class="wide">s</th><th class="text">verdict</th>
    <th class="text">outcome</th></tr></thead>
  <tbody>${rows.map((one) => html`<tr><td class="number">${one.ended.trial}</td>
    <td class="text">${one.title ?? one.test}</td><td>${one.frame_size ?? "-"}</td>
    <${Figure} of=${"trial" + one.ended.trial + ".load"} value=${one.load_fps} text=${count(one.load_fps)} />
    <td class="wide">${one.load_percent?.toFixed(2) ?? "-"}</td>
    <td class="wide">${+one.ended.duration_s.toFixed(3)}</td>
    <td class=${"text " + (VERDICTS[one.ended.validity] ?? "")}>${one.ended.validity}</td>
    <td class="text">${one.ended.outcome}</td></tr>`)}</tbody></table></div>`;
}

// What the server says, kept up: the state, when it came, and the rates of the last 15 minutes.
function useTester(entered) {
  const [now, set] = useState({ state: null, at: 0, points: [], isOver: false });
  useEffect(() => {
    if (!entered) {
      return undefined;
    }
    const past = () => ask("series").then((points) => set((old) => ({ ...old, points }))).catch(() => {});
    const source = new EventSource("api/v1/events");
    source.onopen = past; // again after a break: no gap is hidden that can be filled
    source.onerror = () => { // a server that was started anew does not know this page, and never will
      if (source.readyState === EventSource.CLOSED) {
        set((old) => ({ ...old, isOver: true }));
      }
    };
    source.onmessage = (message) => {
      const state = JSON.parse(message.data);
      const rates = state.ports.flatMap((port) => [port.tx_bps, port.rx_bps]);
      const point = [state.time_ms / 1000, ...rates];
      set((old) => ({ ...old, state, at: Date.now(), points: [...old.points, point].slice(-MAX_POINTS) }));
    };
    return () => source.close();
  }, [entered]);
  return now;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // an address that somebody typed
  }
}

// Addresses of the page, and the entry of the navigation that each belongs to.
const PLACES = {
  trials: { of: "now", show: ([id], { state }) => html`<${Trials} key=${id} id=${+id} state=${state} />` },
  runs: { of: "runs", show: () => html`<${Runs} />` },
  history: { of: "runs", show: ([plan]) => html`<${History} key=${plan} plan=${plan} />` },
  compare: {
    of: "runs",
    show: ([before, after]) => html`<${Comparison} key=${before + after} before=${before} after=${after ?? ""} />`,
  },
  devices: { of: "devices", show: () => html`<${Devices} />` },
  fleet: { of: "fleet", show: () => html`<${Fleet} />` },
  now: { of: "now", show: (names, shown) => html`<${Now} ...${shown} />` },
};

function placeOf(hash) {
  const [, kind, rest] = hash.match(/^#(\w+)(?:=(.*))?$/) ?? [];
  return { place: PLACES[kind] ?? PLACES.now, names: (rest ?? "").split("&").map(decoded) };
}

function useHash() {
  const [hash, set] = useState(location.hash);
  useEffect(() => {
    const change = () => set(location.hash);
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return hash;
}

function Age({ at, time }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const old = Date.now() - at > OLD_MS;
  document.documentElement.classList.toggle("old", old);
  return html`<span class="age" role="status">${old ? "no data since " : ""}
    ${new Date(time).toLocaleTimeString("en-GB")}</span>`;
}

function App() {
  const [me, setMe] = useState(null), [problem, setProblem] = useState(null), hash = useHash();
  const { state, at, points, isOver } = useTester(me != null);
  useEffect(() => {
    enter().then(setMe).catch((e) => setProblem(e.message));
  }, []);
  if (!me || !state) {
    return html`<h1>Framegauge</h1>
      <p class=${problem ? "problem" : "wait"}>${problem ? sentence(problem) : "Connecting …"}</p>`;
  }
  const act = me.role === "operator" && ((body) => ask("actions", body).then(() => setProblem(null))
    .catch((e) => setProblem(e.message)));
  const { place, names } = placeOf(hash);
  const links = { now: "Now", runs: "Runs", devices: "Devices", ...(me.agents > 0 && { fleet: "Fleet" }) };
  return html`<header><h1>${state.plan}</h1>
    <nav>${Object.entries(links).map(([to, text]) => html`
      <a href=${"#" + to} aria-current=${place.of === to ? "page" : undefined}>${text}</a>`)}</nav>
    <span class="muted">${me.role === "viewer" ? "viewer" : ""}</span>
    <${Age} at=${at} time=${state.time_ms} /></header>
  ${isOver && html`<p class="problem" role="alert">The tester was started anew: open the URL that it printed.</p>`}
  ${problem && html`<p class="problem" role="alert">${sentence(problem)}</p>`}
  ${place.show(names, { state, points, act, me })}`;
}

const root = document.getElementById("app");
root.textContent = "";
render(html`<${App} />`, root);
