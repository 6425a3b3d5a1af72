// Counts and lists that the websocket does not bring: asked for again when something has changed, at most
// once a second, and at every tick of the daemon. Without a line nothing is asked.

import type { Signal } from "@preact/signals";
import { changes, get, phase, pulse, signal, useEffect, useRef } from "#app";

const often = 1000; // ms between two questions

export interface Kept<T> {
  value: Signal<T | null>;
  error: Signal<string>;
}

// kept makes the place for what a path answers.
export const kept = <T>(): Kept<T> => ({ value: signal<T | null>(null), error: signal("") });

// useFresh keeps `to` fresh while the component is there. What it returns asks again at once.
export function useFresh<T>(path: string, to: Kept<T>, took?: (v: T) => void): () => Promise<void> {
  const now = useRef(async () => {});
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    let last = 0;
    const ask = async () => {
      clearTimeout(timer);
      timer = 0;
      last = Date.now();
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
    void ask();
    const soon = () => {
      timer ||= setTimeout(ask, Math.max(0, last + often - Date.now()));
    };
    const offs = [changes, pulse].map((s) => {
      const seen = s.peek();
      return s.subscribe((n) => n !== seen && soon());
    });
    return () => {
      for (const off of offs) off();
      clearTimeout(timer);
      stop.abort();
    };
  }, [path]);
  return () => now.current();
}
