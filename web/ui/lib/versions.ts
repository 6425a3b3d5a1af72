// Versions of an answer: a turn that takes the place of another (asked again, or in other words) cuts
// off that one and all that came after it. Nothing is lost: one version is shown, the newest unless
// somebody has chosen. Pure functions of plain values.

import { byId } from "./ids";
import type { Turn } from "./wire";

// Choice is which version is shown, and of how many.
export interface Choice {
  key: string; // the first version's turn
  n: number; // from 0
  of: number;
}

export interface Shown {
  hidden: Set<string>; // turns that are not shown
  asks: Set<string>; // of those, the ones whose question is shown for a version that has none of its own
  past: Set<string>; // turns that are shown, but not the newest version
  choices: Map<string, Choice>; // by the turn that a version begins with
}

interface Version {
  turn: string;
  rest: Slot[]; // what came after it, while it was the newest
}
type Slot = Version[];

// versions finds them among turns. asked tells whether a turn has a question of its own; chosen is by key.
export function versions(ids: string[], turn: (id: string) => Turn | undefined, asked: (id: string) => boolean, chosen: ReadonlyMap<string, Choice>): Shown {
  const out: Shown = { hidden: new Set(), asks: new Set(), past: new Set(), choices: new Map() };
  const show = (slots: Slot[], on: boolean, past: boolean): void => {
    for (const slot of slots) {
      const pick = chosen.get(slot[0].turn);
      const n = pick?.of === slot.length ? pick.n : slot.length - 1;
      slot.forEach((v, i) => {
        const here = on && i === n;
        const old = past || i < slot.length - 1;
        if (!here) out.hidden.add(v.turn);
        else if (old) out.past.add(v.turn);
        if (here && slot.length > 1) {
          out.choices.set(v.turn, { key: slot[0].turn, n, of: slot.length });
          const ask = slot.slice(0, n + 1).findLast((w) => asked(w.turn));
          if (ask) out.asks.add(ask.turn);
        }
        show(v.rest, here, old);
      });
    }
  };
  show(slots(ids, turn), true, false);
  return out;
}

// slots lays turns out in order, each with the versions that it has taken the place of.
function slots(ids: string[], turn: (id: string) => Turn | undefined): Slot[] {
  const kept: Slot[] = [];
  for (const id of [...ids].sort(byId)) {
    const old = turn(id)?.supersedes;
    let from = kept.length;
    while (old && from > 0 && byId(kept[from - 1].at(-1)!.turn, old) >= 0) from--;
    const [first, ...rest] = kept.splice(from);
    first?.at(-1)!.rest.push(...rest);
    kept.push([...(first ?? []), { turn: id, rest: [] }]);
  }
  return kept;
}
