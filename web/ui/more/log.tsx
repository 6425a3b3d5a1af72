// The daemon's log as it is written, newest line first.

import { signal, tail, Time, useEffect, useSignal } from "#app";
import type { LogLine } from "../lib/wire";
import { hhmmss } from "../lib/words";

const kept = 500; // lines
const levels = ["debug", "info", "warn", "error"];

const lines = signal<readonly LogLine[]>([]);

// take puts a line in its place. Whenever a level is asked for the daemon sends what it has kept, so
// that a line may come twice, and an old one after a new one.
function take(l: LogLine): void {
  const rows = lines.peek();
  if (rows.some((x) => x.n === l.n && x.at === l.at)) return;
  lines.value = [l, ...rows].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : b.n - a.n)).slice(0, kept);
}

export function Log() {
  const level = useSignal("info");
  useEffect(() => {
    tail(level.value, take);
    return () => tail("");
  }, [level.value]);
  const from = levels.indexOf(level.value);
  const rows = lines.value.filter((l) => levels.indexOf(l.level) >= from);
  return (
    <section>
      <div class="titled">
        <h2>Log</h2>
        <fieldset class="levels">
          <legend class="unseen">Lines from this level on</legend>
          {levels.map((l) => (
            <label key={l} class="chip">
              <input type="radio" name="level" checked={level.value === l} onChange={() => (level.value = l)} />
              {l}
            </label>
          ))}
        </fieldset>
      </div>
      {rows.length ? (
        <div class="log" tabIndex={0} role="region" aria-label="Log lines, newest first">
          <ol>
            {rows.map((l) => (
              <Entry key={`${l.at}/${l.n}`} l={l} />
            ))}
          </ol>
        </div>
      ) : (
        <p class="nothing dim">Lines appear here as they are written.</p>
      )}
    </section>
  );
}

const tones: Record<string, string> = { warn: "wait", error: "bad" };

function Entry({ l }: { l: LogLine }) {
  return (
    <li>
      <Time at={l.at}>{hhmmss(l.at)}</Time> <span class={`state ${tones[l.level] ?? "dim"}`}>{l.level}</span> <b>{l.msg}</b>
      {Object.entries(l.attrs ?? {}).map(([key, v]) => {
        const text = typeof v === "string" ? v : JSON.stringify(v);
        return (
          <span key={key} class="dim">
            {" "}
            {key}={key === "turn" && text ? <a href={`/turns/${text}`}>{text}</a> : text}
          </span>
        );
      })}
    </li>
  );
}
