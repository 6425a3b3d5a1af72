// Counts and lists that the websocket does not bring: asked for again when something changed, at most
// once a second, and every ten seconds anyway.

import type { Signal } from "@preact/signals";
import { changes, get, phase, signal, useEffect, useRef } from "#app";

const often = 1000;
const seldom = 10_000;

export interface Polled<T> {
  value: Signal<T | null>;
  error: Signal<string>;
}

// polled makes the place for what a path answers.
export const polled = <T>(): Polled<T> => ({ value: signal<T | null>(null), error: signal("") });

// usePoll keeps `to` fresh while the component is there. What it returns asks again at once.
export function usePoll<T>(path: string, to: Polled<T>, took?: (v: T) => void): () => Promise<void> {
  const now = useRef(async () => {});
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    let last = 0;
    const ask = async () => {
      clearTimeout(timer);
      last = Date.now();
      timer = setTimeout(ask, seldom);
      if (phase.peek() === "login") return;
      try {
        const v = await get<T>(path, stop.signal);
        to.value.value = v;
        to.error.value = "";
        took?.(v);
      } catch (e) {
        if (!stop.signal.aborted) to.error.value = (e as Error).message;
      }
    };
    now.current = ask;
    const off = changes.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(ask, Math.max(0, last + often - Date.now()));
    });
    return () => {
      off();
      clearTimeout(timer);
      stop.abort();
    };
  }, [path]);
  return () => now.current();
}
