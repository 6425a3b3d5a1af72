// The picture of a turn: its requests and the waits between them on one line of time, as plain
// rectangles. Long waits are drawn shorter than they were, so that short requests stay visible; the
// table beside it has the true figures.

import type { Attempt } from "../lib/wire";

export interface Bar {
  kind: "ok" | "failed" | "open" | "wait";
  n: number; // the request, or the request that a wait follows
  x: number;
  width: number;
  from: number; // ms
  to: number; // ms
}

export interface Picture {
  bars: Bar[];
  ticks: { x: number; at: number }[];
}

const least = 6; // px, so that a short request can be seen and hit
const room = 1; // px between two bars

// layout places attempts on a line `width` px wide; what is still under way ends at `now`.
export function layout(attempts: readonly Attempt[], now: number, width: number): Picture {
  const spans = pieces(attempts, now);
  if (!spans.length || width <= 0) return { bars: [], ticks: [] };
  // a square root takes the edge off waits of minutes beside requests of milliseconds
  const weight = spans.map((s) => Math.sqrt(Math.max(1, s.to - s.from)));
  const sum = weight.reduce((a, b) => a + b, 0);
  const min = Math.min(least, width / spans.length);
  const free = width - min * spans.length;
  let x = 0;
  const bars = spans.map((s, i) => {
    const w = min + (free * weight[i]) / sum;
    const bar: Bar = { ...s, x, width: Math.max(1, w - room) };
    x += w;
    return bar;
  });
  return { bars, ticks: marks(bars, width) };
}

// pieces cuts the time into requests and the waits between them.
function pieces(attempts: readonly Attempt[], now: number): Omit<Bar, "x" | "width">[] {
  const out: Omit<Bar, "x" | "width">[] = [];
  attempts.forEach((a, i) => {
    const from = Date.parse(a.at);
    const next = attempts[i + 1];
    const to = a.ms !== null && a.outcome ? from + a.ms : Math.max(from, next ? Date.parse(next.at) : now);
    out.push({ kind: !a.outcome ? "open" : a.outcome === "ok" ? "ok" : "failed", n: a.n, from, to });
    const waits = a.outcome && a.outcome !== "ok" && a.wait_ms;
    const until = next ? Date.parse(next.at) : waits ? Math.max(to + a.wait_ms!, now) : to;
    if (until - to > 50) out.push({ kind: "wait", n: a.n, from: to, to: until });
  });
  return out;
}

// marks are the times under the line, not closer than 72 px.
function marks(bars: Bar[], width: number): Picture["ticks"] {
  const ticks: Picture["ticks"] = [];
  for (const b of bars) {
    if (b.kind === "wait" || b.x > width - 40) continue;
    if (!ticks.length || b.x - ticks[ticks.length - 1].x >= 72) ticks.push({ x: b.x, at: b.from });
  }
  return ticks;
}
