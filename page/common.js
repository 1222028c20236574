// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the page share: questions to the server, figures, dates, and how words look.
import { html, useEffect, useState } from "./htm-preact.js";

export const VERDICTS = { valid: "good", "tester-limited": "warning", invalid: "bad" };
export const MARKS = { better: "good", worse: "bad", changed: "warning" };

// Made once: to make one takes as long as a hundred figures.
export const formatter = (options) => {
  const { format } = new Intl.NumberFormat("en", options);
  return format;
};
const whole = formatter();
const day = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeStyle: "medium" }); // 2026-03-14 09:30:00

export const count = (n) => (n == null ? "-" : whole(Math.round(n)));

// Six digits, as `framegauge history` has them.
export const number = formatter({ maximumSignificantDigits: 6 });
export const percent = (n) => (n == null ? "-" : (n >= 0 ? "+" : "") + n.toFixed(2));
export const date = (text) => (text ? day.format(new Date(text)) : "unknown");
// A moment; where there is little room its date alone.
export function When({ of }) {
  const [on, at] = date(of).split(" ");
  return html`<span class="whole">${on}</span>${at && html`<span class="wide">${" " + at}</span>`}`;
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + ".";

export async function ask(path, body) {
  const request = body && {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const answer = await fetch("api/v1/" + path, request);
  if (!answer.ok) {
    throw new Error((await answer.text()).trim());
  }
  return answer.json();
}

// What the server answers, and what went wrong; neither: it has not answered yet.
// @param every  ms, after which it is asked again; then an old answer stays beside what goes wrong
export function useAnswer(path, every) {
  const [answer, set] = useState({});
  useEffect(() => {
    let timer, isOver = false;
    const put = (next) => isOver || set(next);
    const look = async () => {
      await ask(path).then((data) => put({ data })).catch((e) => put((old) => ({ ...old, problem: e.message })));
      timer = every && !isOver ? setTimeout(look, every) : null;
    };
    set({});
    look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path]);
  return answer;
}

export function Waiting({ problem }) {
  return problem ? html`<p class="problem" role="alert">${sentence(problem)}</p>` : html`<p class="wait">Loading …</p>`;
}

// What a row is about: its name, and which figure.
export function Row({ name, heading, unit }) {
  return html`<th scope="row">${name}<br /><small>${heading} ${unit}</small></th>`;
}

// A figure with its exact value, for those who read the page by program.
export function Figure({ of, value, text, wide }) {
  return html`<td class=${"number" + (wide ? " wide" : "")} data-figure=${of} data-value=${value ?? ""}>${text}</td>`;
}

export function Report({ run, text }) {
  return html`<a href=${"runs/" + run + "/report.html"} target="_blank" rel="noopener">${text}</a>`;
}

export const historyOf = (plan) => "#history=" + encodeURIComponent(plan);
export const comparisonOf = (before, after) => "#compare=" + [before, after].map(encodeURIComponent).join("&");
