// What goes over the wire: the objects of the websocket and of /api/v1, as the server writes them.
// A field without a value is null. Times are RFC 3339 with milliseconds.

export type TurnState = "queued" | "running" | "retrying" | "parked" | "rearming" | "owed" | "done";
export type Outcome = "answered" | "failed" | "refused" | "cancelled" | "merged";

export interface Chat {
  id: string;
  bot: string;
  surface: string; // "web", "slack/NAME", …
  source: string; // what began it: its surface, or "schedule"
  title: string;
  created: string;
  active: string; // last message or answer
  state: TurnState | "" | null; // of its newest turn
}

export interface Message {
  id: string;
  chat: string;
  turn: string | null;
  role: "user" | "bot";
  kind: "message" | "notice" | "answer" | "terminal" | "mention";
  name: string | null;
  text: string;
  html: string | null; // sanitised by the server
  at: string;
  edited: string | null;
}

export interface Reason {
  why: "failure" | "gate" | "approval" | "budget" | "account" | "stale";
  class: string | null;
  status: number | null;
  provider: string | null;
  model: string | null;
  text: string | null;
}

export interface Turn {
  id: string;
  bot: string;
  chat: string;
  surface: string;
  state: TurnState;
  outcome: Outcome | null;
  lane: string;
  version: number;
  created: string;
  first_failed_at: string | null;
  retry_at: string | null;
  wait_from: string | null;
  wait_ms: number | null;
  reason: Reason | null;
  attempts_n: number;
  requests_n: number;
  parks_n: number;
  rearm: { n: number; of: number } | null;
  merged_into: string | null;
  supersedes?: string | null; // the turn that this one takes the place of
  model: string | null;
  text: string | null;
  error: string | null;
  calls?: Call[]; // of tools, in order
  approval?: Approval | null; // what it waits for a person's word on
}

export type CallState = "asked" | "running" | "done" | "failed" | "unknown" | "denied";

// Call is one call of a tool. Arguments and result are cut at 4 KB.
export interface Call {
  id: string;
  name: string;
  title: string;
  args: string; // JSON
  state: CallState;
  ms: number | null;
  result: string | null;
  progress: string | null; // what a running one says of itself
  at: string;
}

export interface Approval {
  id: string;
  asked: string;
  kind: "approval" | "unknown"; // unknown: a call was cut off, and it may have happened
  calls: { id: string; name: string; title: string; args: string; destructive: boolean }[];
}

export interface Schedule {
  name: string;
  bot: string;
  cron: string;
  timezone: string;
  prompt: string;
  to: string;
  source: "config" | "bot";
  next: string | null;
  last: string | null;
  last_turn: string | null;
  paused: boolean;
  missed: string; // "once" | "skip"
}

export interface Memory {
  id: string;
  bot: string;
  person: string | null;
  text: string;
  at: string;
  conversation: string | null;
}

// Used is what one model has used for one bot on one day.
export interface Used {
  day: string;
  bot: string;
  model: string;
  requests: number;
  tokens_in: number;
  tokens_out: number;
  cost: number | null; // null without a price
}

export interface Attempt {
  turn?: string;
  n: number;
  send: number;
  at: string;
  model: string;
  status: number; // 0 without an HTTP answer
  class: string; // "" for a success
  stated_wait_ms: number | null;
  wait_ms: number | null;
  wait_from: string | null;
  rung: string;
  outcome: string | null; // null while under way
  request_id: string | null;
  ms: number | null;
}

export interface Step {
  [field: string]: unknown;
}

export interface Post {
  [field: string]: unknown;
}

export interface TurnDetail extends Turn {
  attempts: Attempt[] | null;
  steps: Step[] | null;
  posts: Post[] | null;
  usage?: { tokens_in: number; tokens_out: number; cost: number | null; currency: string };
}

export interface Gate {
  id: string;
  provider: string;
  model: string;
  why: "" | "hold" | "down"; // "" = open again
  until: string | null;
  since: string | null;
  class: string | null;
  error: string | null;
  waiting: number; // turns
  people: number; // whose they are
}

export interface Alert {
  id: string;
  kind: string;
  subject: string | null; // what it is about: PROVIDER/MODEL, a bot, a surface, a turn
  since: string;
  text: string;
  acked: string | null; // an operator has seen it
  cleared: string | null; // null while it is open
}

// Provider is one model of one provider.
export interface Provider {
  id: string; // PROVIDER/MODEL
  provider: string;
  model: string;
  bots: string[] | null; // whose chains name it
  state: "open" | "held" | "down";
  waiting: number; // turns, at its gate
  people: number; // whose they are
  cooldown_until: string | null; // passed over until then while another model is usable
  cooldown_reason: string | null;
  no_key: boolean;
  requests: number; // in the last hour
  failures: number; // of them
  median_ms: number | null; // of its latest answers
  last_error: string | null;
  last_ok: string | null;
}

export interface LogLine {
  n: number; // counts those of one process
  at: string;
  level: string;
  msg: string;
  attrs: Record<string, unknown> | null;
}

export interface Bot {
  name: string;
  models: string[];
}

export interface Page {
  version: string;
  bots: Bot[];
  demo: boolean;
  public_url: string;
  visitor?: boolean; // somebody without a login, who may chat and nothing else
  has?: string[]; // of what the operator's page can show: "schedules", "memory", "usage"
  codes?: boolean; // a visitor may have a code, with which he is served like people who are known
}

export interface Health {
  now: string;
  version: string;
  uptime_s: number;
  turns: Record<"accepted" | "done" | "lost" | Exclude<TurnState, "done">, number>;
  provider_admission: { provider: string; model: string; cooldown_until: string | null; cooldown_reason: string; held_requests: number; people: number }[] | null;
  upcoming: { kind: string; turn: string | null; name?: string | null; at: string; count: number | null; of: number | null }[] | null;
  alerts: Alert[] | null;
  surfaces: { name: string; state: string; since: string | null }[] | null;
  providers?: Provider[] | null;
  paused?: string[] | null; // providers and bots; "" = everything
}

export type Frame =
  | { t: "welcome"; epoch: string; head: number; now: string; page: Page }
  | { t: "snapshot"; seq: number; chat: string; chats: Chat[] | null; messages: Message[] | null; turns: Turn[] | null; gates: Gate[] | null; alerts: Alert[] | null; providers: Provider[] | null; schedules: Schedule[] | null }
  | { t: "live" }
  | ({ t: "ev"; seq: number } & Change)
  | { t: "render"; turn: string; chat: string; from: number; blocks: string[] }
  | { t: "tick"; now: string; providers?: Provider[] }
  | ({ t: "log" } & LogLine)
  | { t: "bye"; code: number };

export type Change =
  | { k: "chat"; d: Chat }
  | { k: "message"; d: Message }
  | { k: "turn"; d: Turn }
  | { k: "attempt"; d: Attempt }
  | { k: "gate"; d: Gate }
  | { k: "alert"; d: Alert }
  | { k: "provider"; d: Provider }
  | { k: "schedule"; d: Schedule }
  | { k: "removed"; d: { kind: string; id: string } };

export const waiting = (t: { state: string | null }) => t.state === "retrying" || t.state === "parked" || t.state === "rearming" || t.state === "owed";
export const live = (t: { state: string | null }) => t.state !== "done";
