// The operator's page, shown once its first answers are here, so that nothing moves: how many turns stand where, what is wrong, what waits and what was lately, what
// comes up, how models and surfaces are, and the daemon's log.

import { Icon, MenuButton, now, page, providers, title, useEffect, useMemo, useSignal } from "#app";
import type { ComponentChildren } from "preact";
import type { Health, TurnState } from "../lib/wire";
import { figure, span, stateWord, when } from "../lib/words";
import type { IconName } from "../view/icon";
import { Alerts } from "./alerts";
import { Approvals } from "./approval";
import { Bots } from "./bots";
import { Log } from "./log";
import { Memories } from "./memory";
import { PausedAll } from "./pause";
import { kept, useFresh } from "./fresh";
import { Providers } from "./providers";
import { Schedules } from "./schedules";
import { Turns, type Filter, type TurnList } from "./turns";
import { Upcoming } from "./upcoming";
import { Usage } from "./usage";

export function Operator() {
  const health = useMemo(() => kept<Health>(), []);
  const list = useMemo(() => kept<TurnList>(), []);
  const filter = useSignal<Filter>("waiting");
  const again = useFresh("/api/v1/state", health, (v) => v.providers?.forEach((p) => providers.put(p.id, p)));
  useEffect(() => {
    title.value = "Operator · Holdfast";
  }, []);
  const h = health.value.value;
  const paused = h?.paused ?? [];
  const has = (part: string) => page.value?.has?.includes(part);
  return (
    <main class="operator" id="main">
      <header class="head">
        <MenuButton />
        <h1>Operator</h1>
        {h && <span class="head-model">Holdfast {h.version}, up {span(h.uptime_s * 1000)}</span>}
      </header>
      {health.error.value && !h && <p class="nothing state bad"><Icon name="failed" />{health.error.value}</p>}
      <div class="operator-body" hidden={!h || !(list.value.value || list.error.value)}>
        {health.error.value && <p class="state bad"><Icon name="failed" />{health.error.value}</p>}
        {h && <PausedAll paused={paused} again={again} />}
        {h && <Counts h={h} filter={filter.value} pick={(f) => (filter.value = f)} />}
        <Alerts />
        <Approvals />
        <Turns filter={filter.value} list={list} />
        {h && (
          <Soon>
            {() => (
              <>
                <Upcoming h={h} />
                {has("schedules") && <Schedules />}
                <Providers paused={paused} again={again} />
                <Bots paused={paused} again={again} />
                <Surfaces h={h} />
                <Soon>
                  {() => (
                    <>
                      {has("memory") && <Memories />}
                      {has("usage") && <Usage />}
                      <Log />
                    </>
                  )}
                </Soon>
              </>
            )}
          </Soon>
        )}
      </div>
    </main>
  );
}

// Soon draws its content in a task of its own: what stands above it is drawn first.
function Soon({ children }: { children: () => ComponentChildren }) {
  const now = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (now.value = true));
    return () => clearTimeout(timer);
  }, []);
  return now.value ? <>{children()}</> : null;
}

const states: TurnState[] = ["queued", "running", "retrying", "parked", "rearming", "owed", "done"];

function Counts({ h, filter, pick }: { h: Health; filter: Filter; pick: (f: Filter) => void }) {
  const t = h.turns;
  const waits = t.retrying + t.parked + t.rearming + t.owed;
  const chip = (f: Filter, n: number, word: string, icon: IconName | null) => (
    <button key={f} type="button" class={n ? "count" : "count none"} aria-pressed={filter === f} onClick={() => pick(f)}>
      <b>{figure(n)}</b>
      <span>
        {icon && <Icon name={icon} />}
        {word}
      </span>
    </button>
  );
  return (
    <section aria-label="Turns by state">
      <div class="counts">
        {chip("waiting", waits, "Waiting", "clock")}
        {states.map((s) => chip(s, t[s], stateWord(s), s === "done" ? "answered" : s))}
        {chip("all", t.accepted, "All", null)}
      </div>
      <p class={t.lost ? "state bad" : "sum dim"}>
        {figure(t.accepted)} accepted = {figure(t.done)} done + {t.queued} queued + {t.running} running + {waits} waiting. {t.lost} lost.
      </p>
    </section>
  );
}

function Surfaces({ h }: { h: Health }) {
  const rows = h.surfaces ?? [];
  if (!rows.length) return null;
  return (
    <section>
      <h2>Surfaces</h2>
      <ul class="rows">
        {rows.map((s) => (
          <li class="row" key={s.name}>
            <span class={`state ${s.state === "connected" ? "good" : s.state === "down" ? "bad" : "wait"}`}>
              <Icon name={s.state === "connected" ? "check" : s.state === "down" ? "failed" : "clock"} />
              {s.state}
            </span>
            <div class="row-main">{s.name}</div>
            {s.since && <p class="row-when dim">since {when(s.since, now())}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
