// The line to the daemon: one websocket, read only. It says hello with the last change it applied,
// gets what it missed (or a snapshot), then lives on changes. A page cannot see pings, so silence
// of 25 s counts as a dead line. Reconnects wait 0.5 to 15 s with full jitter, and not at all when
// the network or the tab comes back.

import { batch, signal } from "@preact/signals";
import { get, onLogout, Refusal } from "./api";
import * as clock from "./clock";
import { load, save } from "./keep";
import { build } from "./late";
import * as state from "./state";
import type { Frame, LogLine } from "./wire";

export type Phase = "connecting" | "live" | "down" | "login" | "refused";

export const phase = signal<Phase>("connecting");
// lost is when the line was lost, in ms of our own clock, 0 while it is up.
export const lost = signal(0);
// heard is the server's time of the last frame, in ms.
export const heard = signal(0);
// refusal is why the server does not talk to us, for people.
export const refusal = signal("");
// ready is whether the daemon has told all there is, once at least.
export const ready = signal(false);
// pulse counts the daemon's ticks, one every ten seconds, and each time the line comes up.
export const pulse = signal(0);
// synced is the chat whose transcript the last hello asked for and got.
export const synced = signal<string | null>(null);

const silence = 25_000;
const shortest = 500;
const longest = 15_000;

let ws: WebSocket | null = null;
let epoch = "";
let after = 0;
let chat = ""; // what the page looks at
let asked = ""; // what the last hello asked for
let have: string | null = null; // what the last snapshot was of
let tries = 0;
let opened = false;
let retry = 0;
let watchdog = 0;
let mended = 0; // when a hole last made a new hello
let logLevel = ""; // what the page has asked for of the daemon's log, "" = nothing
let rest = () => {}; // of a snapshot, put in before the next frame
let logged = (_: LogLine) => {};

// start opens the line and keeps it open; without open it waits for again().
export function start(open: boolean): void {
  onLogout(() => stop("login"));
  addEventListener("online", atOnce);
  addEventListener("pageshow", atOnce);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && atOnce());
  if (open) connect();
  else phase.value = "login";
}

// look turns the line to another chat; "" is none.
export function look(id: string): void {
  if (id === chat) return;
  chat = id;
  if (phase.peek() === "live") hello(false);
}

// tail asks for the daemon's log from a level on ("" for no more of it) and says who takes the lines.
export function tail(level: string, to = logged): void {
  logLevel = level;
  logged = to;
  if (phase.peek() === "live") askLog();
}

const askLog = () => ws?.send(JSON.stringify({ t: "log", level: logLevel }));

// again opens the line after a login, or at once after a refusal.
export function again(): void {
  phase.value = "connecting";
  refusal.value = "";
  tries = 0;
  connect();
}

function stop(p: Phase): void {
  phase.value = p;
  clearTimeout(retry);
  clearTimeout(watchdog);
  const s = ws;
  ws = null;
  s?.close();
}

function connect(): void {
  clearTimeout(retry);
  ws?.close();
  opened = false;
  const s = new WebSocket(location.origin.replace(/^http/, "ws") + "/ws", "holdfast.v1");
  ws = s;
  s.onopen = () => {
    opened = true;
    hello(true);
  };
  s.onmessage = (e) => ws === s && take(JSON.parse(e.data as string) as Frame);
  s.onclose = (e) => ws === s && closed(e.code);
  listen();
}

// hello asks for a chat: for what came since `after` if it is the one already followed, else for a
// snapshot.
function hello(first: boolean): void {
  if (ws?.readyState !== WebSocket.OPEN) return;
  const resume = first && chat === have && after > 0;
  if (!resume) after = 0;
  asked = chat;
  synced.value = null;
  ws.send(JSON.stringify({ t: "hello", epoch, after, chat, build }));
}

// listen restarts the watch for silence.
function listen(): void {
  clearTimeout(watchdog);
  watchdog = setTimeout(() => {
    const s = ws;
    ws = null;
    s?.close();
    closed(0);
  }, silence);
}

function take(f: Frame): void {
  listen();
  heard.value = clock.now();
  rest();
  rest = () => {};
  switch (f.t) {
    case "welcome":
      clock.set(f.now);
      if (epoch && epoch !== f.epoch) {
        after = 0;
        state.forget();
      }
      epoch = f.epoch;
      state.page.value = f.page;
      return;
    case "snapshot":
      after = f.seq;
      have = f.chat ?? "";
      rest = state.snapshot(f);
      return;
    case "ev":
      if (f.seq <= after) return;
      state.change(f);
      after = f.seq;
      return;
    case "live":
      return up();
    case "render":
      if (!state.render(f.turn, f.from, f.blocks)) mend();
      return;
    case "log":
      return logged(f);
    case "tick":
      if (f.providers) state.putProviders(f.providers);
      pulse.value++;
      return clock.set(f.now);
    case "bye":
      return; // the close that follows says why
  }
}

function up(): void {
  tries = 0;
  batch(() => {
    phase.value = "live";
    lost.value = 0;
    synced.value = have;
    ready.value = true;
    pulse.value++;
  });
  if (logLevel) askLog();
  if (asked !== chat) hello(false);
}

// mend asks anew when a stream has a hole, at most every 2 s.
function mend(): void {
  if (Date.now() - mended < 2000) return;
  mended = Date.now();
  hello(false);
}

function closed(code: number): void {
  clearTimeout(watchdog);
  ws = null;
  if (code === 4401) return stop("login");
  if (code === 4409) return reload();
  batch(() => {
    if (phase.peek() === "live") phase.value = "down";
    if (!lost.peek()) lost.value = Date.now();
  });
  if (!opened) void why();
  clearTimeout(retry);
  const cap = Math.min(longest, shortest * 2 ** ++tries);
  retry = setTimeout(connect, Math.max(shortest, Math.random() * cap));
}

// why finds out what a refused handshake does not tell a page.
async function why(): Promise<void> {
  try {
    await get("/api/v1/state");
  } catch (e) {
    if (!(e instanceof Refusal) || e.status === 0 || e.status === 401 || e.status >= 500 || e.code === "not_for_visitors") return;
    refusal.value = e.message;
    phase.value = "refused";
  }
}

function atOnce(): void {
  if (phase.peek() === "login") return;
  if (ws && ws.readyState === WebSocket.OPEN) return;
  if (ws && ws.readyState === WebSocket.CONNECTING && opened === false && tries === 0) return;
  tries = 0;
  connect();
}

// reload gets the new build, once a minute at most so that a stale cache makes no loop.
function reload(): void {
  const last = load<number>("reloaded") ?? 0;
  if (Date.now() - last < 60_000) {
    refusal.value = "The daemon has a newer page than this one. Reload to get it.";
    phase.value = "refused";
    return;
  }
  save("reloaded", Date.now());
  location.reload();
}
