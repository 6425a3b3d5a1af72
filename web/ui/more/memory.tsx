// What bots remember of people: to be searched, seen and deleted.

import { act, get, now, page, pulse, useEffect, useRef, useSignal } from "#app";
import type { Memory } from "../lib/wire";
import { when } from "../lib/words";
import { Sure } from "./sure";

const pause = 250; // ms without a key until a search is sent

interface Found {
  memories: Memory[] | null;
  next: string | null;
}

export function Memories() {
  const find = useSignal("");
  const bot = useSignal("");
  const rows = useSignal<readonly Memory[] | null>(null);
  const next = useSignal<string | null>(null);
  const error = useSignal("");
  const paged = useRef(false);
  const path = (before: string | null) => `/api/v1/memory?${new URLSearchParams({ bot: bot.value, person: "", q: find.value.trim(), ...(before ? { before } : {}) })}`;
  const fetch = async (before: string | null, signal?: AbortSignal) => {
    try {
      const r = await get<Found>(path(before), signal);
      rows.value = [...(before ? (rows.peek() ?? []) : []), ...(r.memories ?? [])];
      next.value = r.next;
      error.value = "";
      paged.current = !!before;
    } catch (e) {
      if (!signal?.aborted) error.value = (e as Error).message;
    }
  };
  useEffect(() => {
    if (rows.peek() && !paged.current) void fetch(null); // what is read on is left as it is
  }, [pulse.value]);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => void fetch(null, stop.signal), rows.peek() ? pause : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [find.value, bot.value]);
  const gone = (id: string) => async () => {
    await act("memory.delete", id);
    rows.value = rows.peek()?.filter((m) => m.id !== id) ?? null;
  };
  const bots = page.value?.bots ?? [];
  return (
    <section id="memory">
      <div class="titled">
        <h2>Memory</h2>
        <div class="finds">
          {bots.length > 1 && (
            <select aria-label="Whose memory" value={bot.value} onChange={(e) => (bot.value = e.currentTarget.value)}>
              <option value="">All bots</option>
              {bots.map((b) => (
                <option key={b.name}>{b.name}</option>
              ))}
            </select>
          )}
          <input type="search" placeholder="Search memory" aria-label="Search memory" value={find.value} onInput={(e) => (find.value = e.currentTarget.value)} />
        </div>
      </div>
      {error.value && <p class="dim">{error.value}</p>}
      {rows.value?.length ? (
        <ul class="rows">
          {rows.value.map((m) => (
            <li class="row memory" key={m.id}>
              <div class="row-main">
                <p dir="auto">{m.text}</p>
                <p class="dim">
                  {[m.bot, m.person, when(m.at, now())].filter(Boolean).join(" · ")}
                  {m.conversation && (
                    <>
                      {" · "}
                      <a href={`/chats/${m.conversation}`}>the chat</a>
                    </>
                  )}
                </p>
              </div>
              <div class="row-acts">
                <Sure word="Delete" label={`Delete: ${m.text.slice(0, 60)}`} act={gone(m.id)} />
              </div>
            </li>
          ))}
        </ul>
      ) : (
        rows.value && <p class="nothing dim">{find.value ? "Nothing that is remembered has these words." : "Nothing is remembered yet."}</p>
      )}
      {next.value && (
        <button type="button" class="small" onClick={() => void fetch(next.peek())}>
          Show more
        </button>
      )}
    </section>
  );
}
