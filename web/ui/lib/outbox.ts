// Messages on their way: written to localStorage before the first try, under an id that makes
// sending twice harmless, and kept until the server's own copy is on the page. Per chat one at a
// time, in order.

import { effect, signal, batch } from "@preact/signals";
import { Refusal, send } from "./api";
import { follow, keys, load, save } from "./keep";
import { makeId } from "./ids";
import { lost, phase, ready } from "./link";
import { chats, messages, page } from "./state";

export interface Item {
  id: string; // of the command
  bot: string; // "" = not known yet
  chat: string;
  text: string;
  at: number; // ms
  state: "queued" | "sending" | "sent" | "failed";
  turn: string | null; // once sent
  error: string | null; // once failed
}

const under = "out.";
const shortest = 500;
const longest = 15_000;
const patience = 5; // tries that the server may answer with 5xx before we say so

export const outbox = signal<readonly Item[]>([]);

// back is a message that the daemon does not take so soon: its words go back into the composer.
export const back = signal<{ chat: string; text: string; why: string } | null>(null);

const busy = new Set<string>(); // chats with a try under way or a wait before the next
const tries = new Map<string, number>();
const wakes = new Map<string, () => void>();

// start takes up what was left by an earlier life of the page and sends whenever the line comes up.
export function start(): void {
  read();
  follow(under, read);
  effect(() => {
    if (phase.value === "live" && lost.value === 0) for (const wake of [...wakes.values()]) wake();
  });
  effect(() => {
    if (ready.value && phase.value !== "login") for (const i of outbox.value) void work(i.chat);
  });
  effect(settle);
}

export function add(bot: string, chat: string, text: string): Item {
  const item: Item = { id: makeId(), bot, chat, text, at: Date.now(), state: "queued", turn: null, error: null };
  put(item);
  return item;
}

// retry sends a failed one again: under a new id, since the old one's refusal is on record.
export function retry(item: Item): void {
  batch(() => {
    drop(item.id);
    put({ ...item, id: makeId(), state: "queued", error: null });
  });
}

export function drop(id: string): void {
  save(under + id, null);
  tries.delete(id);
  outbox.value = outbox.peek().filter((i) => i.id !== id);
}

function put(item: Item): void {
  save(under + item.id, item);
  const rest = outbox.peek().filter((i) => i.id !== item.id);
  outbox.value = [...rest, item].sort((a, b) => a.at - b.at);
}

function read(): void {
  const here = new Map(outbox.peek().map((i) => [i.id, i]));
  const kept = keys(under)
    .map((k) => load<Item>(k))
    .filter((i) => i !== null);
  outbox.value = kept
    .map((i) => (settled(i) ? i : (here.get(i.id) ?? { ...i, state: "queued" as const })))
    .sort((a, b) => a.at - b.at);
}

const settled = (i: Item) => i.state === "sent" || i.state === "failed";

// settle lets go of what the server shows itself.
function settle(): void {
  const sent = outbox.value.filter((i) => i.turn);
  if (!sent.length) return;
  const shown = new Set<string>();
  for (const id of messages.ids.value) {
    const m = messages.peek(id)!;
    if (m.role === "user" && m.turn) shown.add(m.turn);
  }
  for (const i of sent) if (shown.has(i.turn!)) queueMicrotask(() => drop(i.id));
}

// work sends the chat's messages until none is left or one fails.
async function work(chat: string): Promise<void> {
  if (busy.has(chat)) return;
  const next = () => outbox.peek().find((i) => i.chat === chat && (i.state === "queued" || i.state === "sending"));
  busy.add(chat);
  try {
    for (let item = next(); item && phase.peek() !== "login"; item = next()) await once(item);
  } finally {
    busy.delete(chat);
  }
}

async function once(item: Item): Promise<void> {
  const bot = item.bot || chats.peek(item.chat)?.bot || page.peek()?.bots[0]?.name;
  put({ ...item, state: "sending" });
  try {
    const done = await send({ id: item.id, cmd: "message.send", args: { bot, chat: item.chat, text: item.text } });
    put({ ...item, state: "sent", turn: done.turn });
  } catch (e) {
    const status = e instanceof Refusal ? e.status : 0;
    const n = (tries.get(item.id) ?? 0) + 1;
    tries.set(item.id, n);
    if (status === 429) {
      drop(item.id);
      back.value = { chat: item.chat, text: item.text, why: (e as Error).message };
      return;
    }
    if (status === 401) return put({ ...item, state: "queued" });
    if (status >= 400 && (status < 500 || n >= patience)) return put({ ...item, state: "failed", error: (e as Error).message });
    put({ ...item, state: "queued" });
    await pause(item.chat, Math.max(shortest, Math.random() * Math.min(longest, shortest * 2 ** n)));
  }
}

// pause waits, or until the line is back.
function pause(chat: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      wakes.delete(chat);
      resolve();
    };
    const timer = setTimeout(done, ms);
    wakes.set(chat, done);
  });
}
