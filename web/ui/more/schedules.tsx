// What runs by the clock: by the config, or because a bot has set it for itself.

import { act, Countdown, Icon, now, Press, schedules, tell } from "#app";
import type { Schedule } from "../lib/wire";
import { when } from "../lib/words";
import { Sure } from "./sure";

export function Schedules() {
  const rows = schedules.all().sort((a, b) => (a.name < b.name ? -1 : 1));
  return (
    <section id="schedules">
      <h2>Schedules</h2>
      {rows.length > 0 ? (
        <ul class="rows">
          {rows.map((s) => (
            <Row key={s.name} s={s} />
          ))}
        </ul>
      ) : (
        <p class="nothing dim">Nothing runs by the clock. A [[schedule]] in the config does, and what a bot sets for itself.</p>
      )}
    </section>
  );
}

function Row({ s }: { s: Schedule }) {
  const press = (cmd: string, args?: Record<string, unknown>, said?: string) => async () => {
    await act(cmd, s.name, args);
    if (said) tell(said);
  };
  return (
    <li class="row">
      <span class={`state ${s.paused ? "wait" : "good"}`}>
        <Icon name={s.paused ? "parked" : "clock"} />
        {s.paused ? "Paused" : "Set"}
      </span>
      <div class="row-main">
        <p>
          <b>{s.name}</b> <span class="dim">{s.source === "bot" ? `set by ${s.bot}` : s.bot}</span>
        </p>
        <p class="dim">
          <code>{s.cron}</code> {s.timezone} → {s.to}
        </p>
        <p dir="auto">{s.prompt}</p>
        <p class="dim">
          {s.last ? (
            <>
              Last run {s.last_turn ? <a href={`/turns/${s.last_turn}`}>{when(s.last, now())}</a> : when(s.last, now())}.
            </>
          ) : (
            "Has not run yet."
          )}{" "}
          {s.missed === "skip" ? "What it misses is left out." : "What it misses is made up for once."}
        </p>
      </div>
      {s.next && !s.paused && (
        <p class="row-when">
          <Countdown at={s.next} word="Due" />
          <span class="dim">{when(s.next, now())}</span>
        </p>
      )}
      <div class="row-acts">
        <Press kind="small" act={press("schedule.run", undefined, `${s.name} runs now.`)} icon="bolt" label={`Run now: ${s.name}`}>
          Run now
        </Press>
        <Press kind="small" act={press("schedule.pause", { paused: !s.paused })} icon={s.paused ? "check" : "stop"} label={`${s.paused ? "Go on with" : "Pause"} ${s.name}`}>
          {s.paused ? "Go on" : "Pause"}
        </Press>
        {s.source === "bot" && <Sure word="Delete" label={`Delete ${s.name}`} act={press("schedule.delete")} />}
      </div>
    </li>
  );
}
