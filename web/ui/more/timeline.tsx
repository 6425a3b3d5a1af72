// The picture of a turn. It is drawn for the eye; the table of requests beside it says the same.

import { now, second, useLayoutEffect, useRef, useSignal } from "#app";
import type { Attempt } from "../lib/wire";
import { hhmmss, span } from "../lib/words";
import { layout, type Bar } from "./layout";

const barHeight = { ok: 20, failed: 20, open: 20, wait: 4 };

export function Timeline({ rows, live }: { rows: readonly Attempt[]; live: boolean }) {
  const box = useRef<HTMLElement>(null);
  const width = useSignal(0);
  useLayoutEffect(() => {
    const fit = new ResizeObserver(() => (width.value = Math.floor(box.current!.clientWidth)));
    fit.observe(box.current!);
    return () => fit.disconnect();
  }, []);
  if (live) second.value;
  const p = layout(rows, now(), width.value);
  return (
    <figure class="timeline" ref={box}>
      {p.bars.length > 0 && (
        <svg width={width.value} height="52" role="img" aria-label={`Timeline of ${rows.length} requests; the table below has the same figures`}>
          {p.bars.map((b) => (
            <rect key={`${b.n}${b.kind === "wait"}`} class={`bar ${b.kind}`} x={b.x} y={14 - barHeight[b.kind] / 2} width={b.width} height={barHeight[b.kind]} rx="2">
              <title>{what(b, rows)}</title>
            </rect>
          ))}
          {p.ticks.map((t) => (
            <text key={t.x} x={t.x} y="46">
              {hhmmss(t.at)}
            </text>
          ))}
        </svg>
      )}
      <figcaption>
        <span class="key ok">answered</span>
        <span class="key failed">failed request</span>
        <span class="key wait">wait, drawn shorter than it was</span>
      </figcaption>
    </figure>
  );
}

function what(b: Bar, rows: readonly Attempt[]): string {
  const a = rows.find((r) => r.n === b.n);
  if (b.kind === "wait") return `Wait of ${span(b.to - b.from)} after request ${b.n}`;
  return `Request ${b.n} at ${hhmmss(b.from)}, ${span(b.to - b.from)}: ${a?.class || a?.outcome || "under way"}${a?.status ? ` (${a.status})` : ""}`;
}
