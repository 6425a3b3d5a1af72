// Reads and commands over HTTP. Writes are idempotent by their id, so that one whose reply was lost
// may be sent again as it is.

import { makeId } from "./ids";
import { putTurn } from "./state";
import type { Turn } from "./wire";

// Refusal is an answer that is not 2xx. status 0: no answer at all.
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly turn: Turn | null = null,
  ) {
    super(message);
  }
}

export interface Command {
  id: string;
  cmd: string;
  target?: string;
  if_version?: number;
  args?: Record<string, unknown>;
}

export interface Done {
  id: string;
  ok: boolean;
  turn: string | null;
  chat: string | null;
  duplicate: boolean;
  count?: number; // with a filter: turns it was carried out on
}

let loggedOut = () => {};

// onLogout sets what happens when the server does not know us any more.
export function onLogout(f: () => void): void {
  loggedOut = f;
}

async function call<T>(path: string, init?: RequestInit): Promise<T> {
  let res: Response;
  try {
    res = await fetch(path, { credentials: "same-origin", ...init });
  } catch {
    throw new Refusal(0, "offline", "The daemon cannot be reached.");
  }
  if (res.status === 401 && path !== "/login") loggedOut();
  const body = res.status === 204 ? null : await res.json().catch(() => null);
  if (res.ok) return body as T;
  const e = body?.error;
  const turn = (body?.turn && typeof body.turn === "object" ? body.turn : null) as Turn | null;
  throw new Refusal(res.status, e?.code ?? "", e?.message ?? `The daemon answered ${res.status}.`, turn);
}

const post = (body: unknown): RequestInit => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const get = <T>(path: string, signal?: AbortSignal) => call<T>(path, { signal });

export const login = (secret: string, as = "secret") => call<null>("/login", post({ [as]: secret }));

// send carries out a command that has its id already.
export const send = (c: Command, keepalive = false) => call<Done>("/api/v1/commands", { ...post(c), keepalive });

// act makes a command and carries it out. A refusal that brings the turn as it is now puts it in.
export async function act(cmd: string, target: string, args?: Record<string, unknown>): Promise<Done> {
  try {
    return await send({ id: makeId(), cmd, target, args });
  } catch (e) {
    if (e instanceof Refusal && e.turn) putTurn(e.turn);
    throw e;
  }
}
