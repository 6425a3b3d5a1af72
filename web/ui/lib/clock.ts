// One clock for the page: the server's time, and one timer that all countdowns share. The timer
// runs only while something on the page follows `second`.

import { signal } from "@preact/signals";

let offset = 0; // ms to add to our clock to have the server's
let known = false;
let timer = 0;

// set takes the server's time. Frames arrive late, never early, so a larger offset is the truer
// one, unless the clocks have moved apart.
export function set(serverNow: string): void {
  const next = Date.parse(serverNow) - Date.now();
  if (!Number.isFinite(next)) return;
  if (!known || next > offset || offset - next > 2000) offset = next;
  known = true;
}

// now is the server's time in ms.
export const now = () => Date.now() + offset;

// second changes at each full second of the server's time. Its value is of the last beat: who draws
// reads `now()` beside it.
export const second = signal(0, {
  watched() {
    timer = setTimeout(beat, 0); // not at once: what watches is being drawn
  },
  unwatched() {
    clearTimeout(timer);
  },
});

function beat(): void {
  clearTimeout(timer);
  const t = now();
  second.value = t;
  timer = setTimeout(beat, 1000 - (t % 1000) + 5);
}
