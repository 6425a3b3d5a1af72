// What happens at the edges, told to everybody: one polite status region for screen readers, one
// line of passing notes for the eye, title and icon for a hidden tab.

import { effect, signal } from "@preact/signals";
import { phase } from "./link";
import { turns } from "./state";
import type { Turn } from "./wire";
import { waiting } from "./wire";
import { because, hhmmss } from "./words";

// status is what the status region says.
export const status = signal("");

export interface Note {
  text: string;
  act?: { word: string; do: () => void };
}

// note is the passing note that is shown, if any.
export const note = signal<Note | null>(null);

let timer = 0;

export function tell(text: string, act?: Note["act"], ms = 6000): void {
  clearTimeout(timer);
  note.value = { text, act };
  timer = setTimeout(() => (note.value = null), ms);
}

export function hush(): void {
  clearTimeout(timer);
  note.value = null;
}

export const failed = (e: unknown) => tell(e instanceof Error ? e.message : String(e));

// edge says what a change of a turn's state means, "" for nothing worth saying.
export function edge(was: Turn | undefined, is: Turn): string {
  if (was?.state === is.state && was?.retry_at === is.retry_at) return "";
  if (is.approval) return "Your approval is asked for.";
  if (waiting(is)) return is.retry_at ? `${because(is.reason)}. Goes on at ${hhmmss(is.retry_at)}.` : `${because(is.reason)}. The message is kept.`;
  if (is.state === "running" && was && waiting(was)) return "Trying again.";
  if (is.state === "running" && was?.state !== "running") return "The answer is on its way.";
  if (is.state !== "done" || !was) return "";
  if (is.outcome === "answered") return "Answered.";
  if (is.outcome === "cancelled") return "Stopped.";
  return is.outcome === "merged" ? "" : (is.error ?? "No answer.");
}

// start follows the turns of the chat that is looked at and the line.
export function start(chat: () => string): void {
  const seen = new Map<string, Turn>();
  effect(() => {
    const id = chat();
    for (const t of turns.all()) {
      const was = seen.get(t.id);
      seen.set(t.id, t);
      if (t.chat !== id || (!was && t.state === "done")) continue;
      const text = edge(was, t);
      if (text) status.value = text;
      if (was && was.state !== "done" && (t.state === "done" || t.approval) && document.hidden) mark(true);
    }
  });
  let before = phase.peek();
  effect(() => {
    if (phase.value === "live" && before === "down") status.value = "Connected again.";
    if (phase.value === "down") status.value = "Connection lost. Reconnecting.";
    before = phase.value;
  });
  document.addEventListener("visibilitychange", () => document.hidden || mark(false));
}

// title is what the tab says beside the mark.
export const title = signal("Holdfast");
const marked = signal(false);

effect(() => {
  document.title = (marked.value ? "● " : "") + title.value;
});

// mark puts a dot on the tab while it is hidden and something has come.
function mark(on: boolean): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (!link?.dataset.dot || marked.peek() === on) return;
  [link.href, link.dataset.dot] = [link.dataset.dot, link.href];
  marked.value = on;
}
