// What the page says: plain sentences and times, pure functions of plain values.

import type { Attempt, Gate, Outcome, Reason, Turn, TurnState } from "./wire";

const stateWords: Record<TurnState, string> = {
  queued: "Queued",
  running: "Running",
  retrying: "Retrying",
  parked: "Parked",
  rearming: "Re-arming",
  owed: "Owed",
  done: "Done",
};

const outcomeWords: Record<Outcome, string> = {
  answered: "Answered",
  failed: "Failed",
  refused: "Refused",
  cancelled: "Stopped",
  merged: "Joined",
};

export const stateWord = (s: TurnState, o?: Outcome | null) => (s === "done" && o ? outcomeWords[o] : stateWords[s]);

const classWords: Record<string, string> = {
  rate_limit: "is rate limiting",
  overloaded: "is overloaded",
  server: "has an error of its own",
  network: "cannot be reached",
  timeout: "does not answer in time",
  quota: "says that the quota is used up",
  auth: "refuses the key",
  down: "is down",
  too_large: "says that this is too long",
  refused: "refuses this request",
};

// because is the plain reason of a wait: "demo is rate limiting (429)".
export function because(r: Reason | null): string {
  if (!r) return "Waiting";
  const text = r.text || `${r.provider ?? "The provider"} ${classWords[r.class ?? ""] ?? "does not answer"}`;
  const said = text.replace(/^the /, "The ");
  return r.why === "failure" && r.status && r.status !== 200 && !said.includes(String(r.status)) ? `${said} (${r.status})` : said;
}

// whyDelay says where the length of a wait comes from.
export function whyDelay(t: Turn): string {
  const length = t.wait_ms ? span(t.wait_ms) : "";
  switch (t.wait_from) {
    case "retry-after":
      return `The provider asked for ${length || "a wait"}; nothing is sent earlier.`;
    case "backoff":
      return `Our own back-off${length ? ` of ${length}` : ""}, which doubles from 2 s to 60 s so that a busy provider gets room.`;
    case "gate":
      return "This model takes nothing at the moment. All turns line up; when the time is over one asks first.";
    case "rearm":
      return t.rearm ? `The attempts are used up. The whole turn is sent again later: ${t.rearm.n} of ${t.rearm.of}.` : "The attempts are used up. The whole turn is sent again later.";
    case "approval":
      return "A person has to approve a call first.";
    case "budget":
      return "The allowance is used up; it goes on when the day turns.";
  }
  return t.state === "owed" ? "Everything was tried." : "";
}

// wakes says what a turn waits for that has no time to go on at, or something else beside it.
export function wakes(t: Turn): string {
  switch (t.reason?.why) {
    case "stale":
      return "Nothing is sent until you have said yes.";
    case "approval":
      return "It goes on when the call is approved or denied.";
    case "account":
      return "Kept until the account is put right, you write again or an operator resumes it. Once an hour it asks by itself.";
    case "budget":
      return "It goes on when the day turns.";
  }
  if (t.state === "rearming") return "Your next message starts it at once.";
  return t.state === "owed" ? "Kept until the provider is back, you write again or an operator resumes it." : t.retry_at ? "" : "The message is kept; it goes on by itself.";
}

const fromWords: Record<string, string> = {
  backoff: "own back-off",
  "retry-after": "asked by the provider",
  gate: "held model",
  rearm: "re-arm",
  approval: "approval",
  budget: "allowance",
};

export const waitFrom = (from: string | null) => (from ? (fromWords[from] ?? from) : "");

const whatHappened: Record<string, string> = {
  ok: "answered",
  retry: "sent again",
  park: "parked",
  fallback: "next model",
  rearm: "re-armed",
  owed: "owed",
  failed: "gave up",
  cancelled: "stopped",
  interrupted: "cut by a restart",
};

export const attemptOutcome = (a: Attempt) => (a.outcome ? (whatHappened[a.outcome] ?? a.outcome) : "under way");
export const attemptStatus = (a: Attempt) => (a.status ? String(a.status) : a.outcome ? "no answer" : "…");

export const gateWhy = (g: Gate) => (g.why === "hold" ? "Held" : "Down");

// count is "1 attempt", "3 attempts".
export const count = (n: number, one: string, many = one + "s") => `${n} ${n === 1 ? one : many}`;

// span is a length of time in words: "850 ms", "45 s", "1 min 30 s", "2 h 5 min".
export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = Math.round(ms / 100) / 10;
  if (s < 10) return `${s} s`;
  if (s < 60) return `${Math.round(s)} s`;
  const m = Math.floor(Math.round(s) / 60);
  if (m < 60) return join(m, "min", Math.round(s) - m * 60, "s");
  const h = Math.floor(m / 60);
  if (h < 48) return join(h, "h", m % 60, "min");
  return join(Math.floor(h / 24), "d", h % 24, "h");
}

const join = (a: number, unitA: string, b: number, unitB: string) => (b ? `${a} ${unitA} ${b} ${unitB}` : `${a} ${unitA}`);

const two = (n: number) => String(n).padStart(2, "0");

// figure is a whole number: "12,345".
export const figure = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

// digits is a countdown: "0:07", "12:30", "1:05:00".
export function digits(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const h = Math.floor(s / 3600);
  const m = Math.floor(s / 60) % 60;
  return h ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

// Moments are written here, in the page's own language: a browser's formats take longer to make than all
// else that is done before something is shown.
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

const written = (how: (d: Date) => string) => (at: string | number) => how(new Date(at));

export const hhmm = written((d) => `${two(d.getHours())}:${two(d.getMinutes())}`);
export const hhmmss = written((d) => `${hhmm(+d)}:${two(d.getSeconds())}`);
export const fullTime = written((d) => `${date(+d)} ${d.getFullYear()}, ${hhmmss(+d)}`);
const day = written((d) => `${weekdays[d.getDay()]}, ${d.getDate()} ${months[d.getMonth()]}`);
const date = written((d) => `${d.getDate()} ${months[d.getMonth()].slice(0, 3)}`);

const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
const days = (at: string | number, now: number) => Math.round((midnight(now) - midnight(+new Date(at))) / 86_400_000);

// when is a time in as few words as it needs: "14:02" today, else with the day.
export function when(at: string | number, now: number): string {
  const d = days(at, now);
  if (d === 0) return hhmm(at);
  if (d === 1) return `yesterday ${hhmm(at)}`;
  if (d === -1) return `tomorrow ${hhmm(at)}`;
  return `${date(at)} ${hhmm(at)}`;
}

export function dayName(at: string | number, now: number): string {
  const d = days(at, now);
  return d === 0 ? "Today" : d === 1 ? "Yesterday" : day(at);
}

// age groups the list of chats.
export function age(at: string, now: number): string {
  const d = days(at, now);
  return d <= 0 ? "Today" : d === 1 ? "Yesterday" : d < 7 ? "This week" : d < 31 ? "This month" : "Older";
}
