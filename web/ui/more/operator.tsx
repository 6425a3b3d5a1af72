// The operator's page: how many turns stand where, what is held or down, what waits and what was
// lately, what comes up.

import { act, alerts, chats, Countdown, gates, Icon, MenuButton, now, Press, putTurn, State, Time, tell, title, TryNow, turns, useEffect, useMemo, useSignal } from "#app";
import { waiting, type Gate, type Health, type Turn, type TurnState } from "../lib/wire";
import { because, count, gateWhy, hhmmss, span, stateWord, when } from "../lib/words";
import type { IconName } from "../view/icon";
import { polled, usePoll } from "./poll";

type Filter = "waiting" | "all" | TurnState;

export function Operator() {
  const health = useMemo(() => polled<Health>(), []);
  const filter = useSignal<Filter>("waiting");
  usePoll("/api/v1/state", health);
  useEffect(() => {
    title.value = "Operator · Holdfast";
  }, []);
  const h = health.value.value;
  return (
    <main class="operator" id="main">
      <header class="head">
        <MenuButton />
        <h1>Operator</h1>
        {h && <span class="head-model">Holdfast {h.version}, up {span(h.uptime_s * 1000)}</span>}
      </header>
      <div class="operator-body">
        {health.error.value && <p class="state bad"><Icon name="failed" />{health.error.value}</p>}
        {h && <Counts h={h} filter={filter.value} pick={(f) => (filter.value = f)} />}
        <Alerts />
        <Gates />
        <Turns filter={filter.value} />
        {h && <Upcoming h={h} />}
        {h && <Surfaces h={h} />}
      </div>
    </main>
  );
}

const states: TurnState[] = ["queued", "running", "retrying", "parked", "rearming", "owed", "done"];

function Counts({ h, filter, pick }: { h: Health; filter: Filter; pick: (f: Filter) => void }) {
  const t = h.turns;
  const waits = t.retrying + t.parked + t.rearming + t.owed;
  const chip = (f: Filter, n: number, word: string, icon: IconName | null) => (
    <button key={f} type="button" class={n ? "count" : "count none"} aria-pressed={filter === f} onClick={() => pick(f)}>
      <b>{n.toLocaleString()}</b>
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
        {t.accepted.toLocaleString()} accepted = {t.done.toLocaleString()} done + {t.queued} queued + {t.running} running + {waits} waiting. {t.lost} lost.
      </p>
    </section>
  );
}

function Alerts() {
  const rows = alerts.all();
  if (!rows.length) return null;
  return (
    <section>
      <h2>Alerts</h2>
      <ul class="cards">
        {rows.map((a) => (
          <li key={a.id} class="card bad">
            <p class="state bad">
              <Icon name="bell" />
              <span class="kind">{a.kind.replaceAll("_", " ")}</span>
            </p>
            <p>{a.text}</p>
            <p class="dim">since {when(a.since, now())}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Gates() {
  const rows = gates.all();
  if (!rows.length) return null;
  return (
    <section>
      <h2>Held and down models</h2>
      <ul class="cards">
        {rows.map((g) => (
          <GateCard key={g.id} g={g} />
        ))}
      </ul>
    </section>
  );
}

function GateCard({ g }: { g: Gate }) {
  const name = `${g.provider}/${g.model}`;
  return (
    <li class="card">
      <p class={g.why === "down" ? "state bad" : "state wait"}>
        <Icon name="gate" />
        {gateWhy(g)}
        {g.until && (
          <span class="card-count">
            <Countdown at={g.until} />
          </span>
        )}
      </p>
      <p class="card-name">{name}</p>
      <p class="dim">
        {g.until && `Asked again at ${hhmmss(g.until)}. `}
        {count(g.waiting ?? 0, "turn waits", "turns wait")}
        {g.since && `, since ${when(g.since, now())}`}.
      </p>
      {g.error && <p class="card-error">{g.error}</p>}
      <Press act={() => act("hold.release", name)} icon="bolt" label={`Release ${name}`}>
        Release
      </Press>
    </li>
  );
}

const query = (f: Filter) => (f === "waiting" ? "waiting=true&" : f === "all" ? "" : `state=${f}&`);
const fits = (f: Filter, t: Turn) => f === "all" || (f === "waiting" ? waiting(t) : t.state === f);

function Turns({ filter }: { filter: Filter }) {
  const list = useMemo(() => polled<{ turns: Turn[] | null; next: string | null }>(), []);
  usePoll(`/api/v1/turns?${query(filter)}limit=50`, list, (v) => v.turns?.forEach(putTurn));
  const rows = (list.value.value?.turns ?? []).map((t) => turns.get(t.id) ?? t).filter((t) => fits(filter, t));
  const name = filter === "waiting" ? "Waiting turns" : filter === "all" ? "Latest turns" : `${stateWord(filter)} turns`;
  return (
    <section>
      <div class="titled">
        <h2>{name}</h2>
        {rows.length > 1 && filter !== "all" && filter !== "done" && <Many filter={filter} />}
      </div>
      {list.error.value && <p class="dim">{list.error.value}</p>}
      {rows.length ? (
        <ul class="rows">
          {rows.map((t) => (
            <TurnRow key={t.id} t={t} />
          ))}
        </ul>
      ) : (
        list.value.value && <p class="nothing dim">{filter === "waiting" ? "Nothing waits. Everybody has an answer or gets one now." : "None."}</p>
      )}
      {list.value.value?.next && <p class="dim">The newest 50 are shown; the command line shows all: holdfast turns</p>}
    </section>
  );
}

type Bulk = "turn.resume" | "turn.cancel";

const bulkWords: Record<Bulk, string> = { "turn.resume": "Resume", "turn.cancel": "Cancel" };

// Many does one thing to all turns of a filter, once it has been said how many they are.
function Many({ filter }: { filter: Filter }) {
  const asked = useSignal<{ cmd: Bulk; n: number } | null>(null);
  useEffect(() => {
    asked.value = null;
  }, [filter]);
  const args = filter === "waiting" ? { waiting: true } : { state: filter };
  const ask = async (cmd: Bulk) => {
    const r = await act(cmd, "", { ...args, dry_run: true });
    asked.value = { cmd, n: r.count ?? 0 };
  };
  const carryOut = async (cmd: Bulk) => {
    const r = await act(cmd, "", args);
    asked.value = null;
    tell(`${bulkWords[cmd]}: done for ${count(r.count ?? 0, "turn")}. Turns that are held or done were passed over.`);
  };
  const a = asked.value;
  if (a)
    return (
      <div class="row-acts" role="group" aria-label="Confirm">
        <Press kind="small primary" act={() => carryOut(a.cmd)}>
          {bulkWords[a.cmd]} {count(a.n, "turn")}
        </Press>
        <button type="button" class="small" onClick={() => (asked.value = null)}>
          No
        </button>
      </div>
    );
  const resumable = filter !== "queued" && filter !== "running";
  return (
    <div class="row-acts">
      {resumable && <Press kind="small" act={() => ask("turn.resume")}>Resume all…</Press>}
      <Press kind="small" act={() => ask("turn.cancel")}>Cancel all…</Press>
    </div>
  );
}

function TurnRow({ t }: { t: Turn }) {
  const c = chats.get(t.chat);
  const can = waiting(t);
  return (
    <li class="row">
      <State state={t.state} outcome={t.outcome} />
      <div class="row-main">
        <a class="row-name" href={`/turns/${t.id}`}>
          {c?.title || `Turn ${t.id}`}
        </a>
        <p class="dim">
          {t.bot} · {t.surface} · <Time at={t.created}>{when(t.created, now())}</Time>
          {t.attempts_n > 0 && ` · ${count(t.attempts_n, "attempt")}, ${count(t.parks_n, "park")}`}
          {t.rearm && ` · re-arm ${t.rearm.n} of ${t.rearm.of}`}
        </p>
        {(can || t.error) && <p class="row-why">{can ? because(t.reason) : t.error}</p>}
      </div>
      {t.retry_at && can && (
        <p class="row-when">
          <Countdown at={t.retry_at} />
          <span class="dim">{hhmmss(t.retry_at)}</span>
        </p>
      )}
      {t.state !== "done" && (
        <div class="row-acts">
          {can && <TryNow turn={t} />}
          <Press act={() => act("turn.cancel", t.id)} icon="close" label={`Cancel turn ${t.id}`}>
            Cancel
          </Press>
        </div>
      )}
    </li>
  );
}

function Upcoming({ h }: { h: Health }) {
  const rows = h.upcoming ?? [];
  if (!rows.length) return null;
  return (
    <section>
      <h2>Coming up</h2>
      <ul class="rows">
        {rows.slice(0, 12).map((u, i) => (
          <li class="row" key={i}>
            <span class="state dim">
              <Icon name="clock" />
              {u.kind}
            </span>
            <div class="row-main">
              {u.turn ? <a href={`/turns/${u.turn}`}>{`Turn ${u.turn}`}</a> : <span class="dim">{u.count ? count(u.count, "turn") : ""}</span>}
              {u.of ? <span class="dim"> {u.count} of {u.of}</span> : null}
            </div>
            <p class="row-when">
              <Countdown at={u.at} />
              <span class="dim">{hhmmss(u.at)}</span>
            </p>
          </li>
        ))}
      </ul>
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
