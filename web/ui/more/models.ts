// How a model stands: the gate before it and what is known of its answers, in one.

import { gates, now, providers } from "#app";
import type { Gate, Provider } from "../lib/wire";
import type { IconName } from "../view/icon";

export type Standing = "open" | "cooling" | "held" | "down" | "paused";

export interface Model {
  id: string; // PROVIDER/MODEL
  provider: string;
  name: string;
  gate: Gate | undefined;
  row: Provider | undefined;
}

// models are all that bots name or a gate is closed for.
export function models(): Model[] {
  const rows = providers.all();
  const known = new Set(rows.map((r) => r.id));
  const list: Model[] = rows.map((row) => ({ id: row.id, provider: row.provider, name: row.model, gate: gates.get(row.id), row }));
  for (const g of gates.all()) if (!known.has(g.id)) list.push({ id: g.id, provider: g.provider, name: g.model, gate: g, row: undefined });
  return list;
}

const cooling = (m: Model) => !!m.row?.cooldown_until && Date.parse(m.row.cooldown_until) > now();

// standing is how a model stands and until when; a gate counts more than the row beside it, which is
// told less often.
export function standing(m: Model, paused: boolean): { is: Standing; until: string | null } {
  if (paused) return { is: "paused", until: null };
  if (m.gate?.why) return { is: m.gate.why === "down" ? "down" : "held", until: m.gate.until };
  if (cooling(m)) return { is: "cooling", until: m.row!.cooldown_until };
  return { is: "open", until: null };
}

export const standingWords: Record<Standing, string> = { open: "Open", cooling: "Cooling", held: "Held", down: "Down", paused: "Paused" };
export const standingTones: Record<Standing, string> = { open: "good", cooling: "wait", held: "wait", down: "bad", paused: "wait" };
export const standingIcons: Record<Standing, IconName> = { open: "check", cooling: "clock", held: "gate", down: "gate", paused: "parked" };
