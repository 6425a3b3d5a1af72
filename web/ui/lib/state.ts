// What the page knows, as the server told it. Everything here is written by apply() and read by the
// views; nothing here is guessed.

import { batch, signal, type Signal } from "@preact/signals";
import { Table } from "./table";
import { live, waiting, type Alert, type Attempt, type Change, type Chat, type Frame, type Gate, type Message, type Page, type Provider, type Schedule, type Turn } from "./wire";

export const page = signal<Page | null>(null);
export const chats = new Table<Chat>();
export const messages = new Table<Message>();
export const turns = new Table<Turn>();
export const attempts = new Table<Attempt[]>(); // by turn
export const gates = new Table<Gate>();
export const alerts = new Table<Alert>();
export const providers = new Table<Provider>();
export const schedules = new Table<Schedule>(); // by name

// held are the chats whose transcript is here.
export const held = signal<ReadonlySet<string>>(new Set());
// changes counts what came in: views that show counts of the server ask again when it moves.
export const changes = signal(0);

const streams = new Map<string, Signal<readonly string[]>>();
const none: readonly string[] = [];

// stream is the answer of a running turn so far, as blocks of HTML.
export function stream(turn: string): Signal<readonly string[]> {
  let s = streams.get(turn);
  if (!s) streams.set(turn, (s = signal(none)));
  return s;
}

// render takes "blocks from index k are now these". False if blocks before k are missing here.
export function render(turn: string, from: number, blocks: readonly string[]): boolean {
  const s = stream(turn);
  if (from > s.peek().length) return false;
  s.value = [...s.peek().slice(0, from), ...blocks];
  return true;
}

// putTurn takes a turn unless a newer version of it is here already.
export function putTurn(t: Turn): void {
  const old = turns.peek(t.id);
  if (old && old.version > t.version) return;
  turns.put(t.id, t);
  if (waiting(t) && streams.has(t.id)) stream(t.id).value = none;
}

export function putAttempt(turn: string, a: Attempt): void {
  const rows = (attempts.peek(turn) ?? []).filter((x) => x.n !== a.n);
  attempts.put(turn, [...rows, a].sort((x, y) => x.n - y.n));
}

export function putGate(g: Gate): void {
  if (g.why) gates.put(g.id, g);
  else gates.drop(g.id);
}

export function dropChat(id: string): void {
  chats.drop(id);
  for (const m of messages.ids.peek()) if (messages.peek(m)?.chat === id) messages.drop(m);
  hold(id, false);
}

function hold(id: string, on: boolean): void {
  const next = new Set(held.peek());
  if (on) next.add(id);
  else next.delete(id);
  held.value = next;
}

// forget empties everything: the server has another store than before.
export function forget(): void {
  batch(() => {
    for (const t of [chats, messages, turns, attempts, gates, alerts, providers, schedules]) t.fill([]);
    for (const s of streams.values()) s.value = none;
    held.value = new Set();
  });
}

// change applies one durable change; applying it twice is harmless.
export function change(c: Change): void {
  batch(() => {
    changes.value++;
    switch (c.k) {
      case "chat":
        return chats.put(c.d.id, c.d);
      case "message":
        return messages.put(c.d.id, c.d);
      case "turn":
        return putTurn(c.d);
      case "attempt":
        return c.d.turn ? putAttempt(c.d.turn, c.d) : undefined;
      case "gate":
        return putGate(c.d);
      case "alert":
        return c.d.cleared ? alerts.drop(c.d.id) : alerts.put(c.d.id, c.d);
      case "provider":
        return providers.put(c.d.id, c.d);
      case "schedule":
        return schedules.put(c.d.name, c.d);
      case "removed":
        return remove(c.d.kind, c.d.id);
    }
  });
}

function remove(kind: string, id: string): void {
  if (kind === "chat") dropChat(id);
  else if (kind === "message") messages.drop(id);
  else if (kind === "turn") turns.drop(id);
  else if (kind === "gate") gates.drop(id);
  else if (kind === "alert") alerts.drop(id);
  else if (kind === "provider") providers.drop(id);
  else if (kind === "schedule") schedules.drop(id);
}

export const putProviders = (rows: Provider[] | null) => providers.fill(byId(rows));

const full = 200; // the latest chats that a snapshot brings, beside the one that is looked at

// below is the time of the last activity from which on a snapshot had all chats, "" if it had them all.
export const below = signal("");

// snapshot replaces the transcript of its chat, and by what it returns the lists, but for what was paged
// in above or below. The two are apart so that what is looked at is drawn first.
export function snapshot(s: Extract<Frame, { t: "snapshot" }>): () => void {
  const fresh = s.messages ?? [];
  const first = fresh[0]?.at ?? "";
  const looked = s.chats?.find((c) => c.id === s.chat);
  batch(() => {
    if (looked) chats.put(looked.id, looked);
    messages.fill(byId(fresh), (m) => m.chat !== s.chat || m.at < first);
    turns.fill(byId(s.turns), (t) => !live(t) && (t.chat !== s.chat || t.created < first));
    for (const [id, st] of streams) if (turns.peek(id)?.state !== "running") st.value = none;
    if (s.chat) hold(s.chat, true);
  });
  return () => lists(s);
}

function lists(s: Extract<Frame, { t: "snapshot" }>): void {
  const last = s.chats?.[full - 1]?.active ?? "";
  batch(() => {
    changes.value++;
    chats.fill(byId(s.chats), (c) => c.active < last);
    below.value = last;
    gates.fill(byId((s.gates ?? []).filter((g) => g.why)));
    alerts.fill(byId(s.alerts));
    putProviders(s.providers);
    schedules.fill((s.schedules ?? []).map((x) => [x.name, x] as const));
  });
}

const byId = <T extends { id: string }>(rows: T[] | null) => (rows ?? []).map((r) => [r.id, r] as const);
