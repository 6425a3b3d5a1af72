// Turns as a list that filters, with what can be done to one of them or to all that are shown.

import { act, chats, Countdown, now, Press, putTurn, State, tell, Time, turns, useEffect, useSignal } from "#app";
import { waiting, type Turn, type TurnState } from "../lib/wire";
import { because, count, hhmmss, stateWord, wakes, when } from "../lib/words";
import { useFresh, type Kept } from "./fresh";
import { TryNow } from "./retry";

export type Filter = "waiting" | "all" | TurnState;

const query = (f: Filter) => (f === "waiting" ? "waiting=true&" : f === "all" ? "" : `state=${f}&`);
const fits = (f: Filter, t: Turn) => f === "all" || (f === "waiting" ? waiting(t) : t.state === f);

export interface TurnList {
  turns: Turn[] | null;
  next: string | null;
}

export function Turns({ filter, list }: { filter: Filter; list: Kept<TurnList> }) {
  useFresh(`/api/v1/turns?${query(filter)}limit=50`, list, (v) => v.turns?.forEach(putTurn));
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
      {list.value.value?.next && <p class="dim">The newest 50 are shown; the command “turns” shows all.</p>}
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
        {can && !t.retry_at && <p class="dim">{wakes(t)}</p>}
      </div>
      {t.retry_at && can && (
        <p class="row-when">
          <Countdown at={t.retry_at} />
          <span class="dim">{hhmmss(t.retry_at)}</span>
        </p>
      )}
      {t.state !== "done" && (
        <div class="row-acts">
          {can && !t.approval && <TryNow turn={t} />}
          <Press act={() => act("turn.cancel", t.id)} icon="close" label={`Cancel turn ${t.id}`}>
            Cancel
          </Press>
        </div>
      )}
    </li>
  );
}
