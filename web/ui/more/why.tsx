// Why a turn waits: where the length of the wait comes from, and every request so far.

import { attempts, get, putAttempt, putTurn, turns, useEffect, useSignal } from "#app";
import type { TurnDetail } from "../lib/wire";
import { whyDelay } from "../lib/words";
import { Attempts } from "./attempts";

export function Why({ id }: { id: string }) {
  const t = turns.get(id);
  const error = useSignal("");
  useEffect(() => {
    const stop = new AbortController();
    get<TurnDetail>(`/api/v1/turns/${id}`, stop.signal).then(
      (d) => {
        putTurn(d);
        for (const a of d.attempts ?? []) putAttempt(id, a);
        error.value = "";
      },
      (e: Error) => stop.signal.aborted || (error.value = e.message),
    );
    return () => stop.abort();
  }, [id, t?.requests_n]);
  const rows = attempts.get(id) ?? [];
  return (
    <div class="retry-more">
      {t && <p>{whyDelay(t)}</p>}
      {error.value && !rows.length ? <p class="dim">{error.value}</p> : <Attempts rows={rows} />}
      <a href={`/turns/${id}`}>All about this turn</a>
    </div>
  );
}
