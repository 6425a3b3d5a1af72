// What comes up by itself, soonest first.

import { chats, Countdown, Icon, turns } from "#app";
import type { Health } from "../lib/wire";
import { count, hhmmss } from "../lib/words";
import type { IconName } from "../view/icon";

type Row = NonNullable<Health["upcoming"]>[number];

const shown = 12;

const kinds: Record<string, { word: string; icon: IconName }> = {
  resume: { word: "Resume", icon: "retrying" },
  gate: { word: "Model asked", icon: "gate" },
  rearm: { word: "Re-arm", icon: "rearming" },
  schedule: { word: "Schedule", icon: "clock" },
  delivery: { word: "Delivery", icon: "send" },
};

export function Upcoming({ h }: { h: Health }) {
  const rows = h.upcoming ?? [];
  if (!rows.length) return null;
  return (
    <section>
      <h2>Coming up</h2>
      <ul class="rows">
        {rows.slice(0, shown).map((u, i) => (
          <Coming key={`${u.kind}${u.turn ?? i}`} u={u} />
        ))}
      </ul>
      {rows.length > shown && <p class="dim">And {rows.length - shown} more after these.</p>}
    </section>
  );
}

function Coming({ u }: { u: Row }) {
  const t = turns.get(u.turn);
  const again = t?.state === "rearming" ? t.rearm : null; // a re-arm is known by its turn, too
  const kind = kinds[again ? "rearm" : u.kind] ?? { word: u.kind, icon: "clock" as const };
  const n = again?.n ?? u.count;
  const of = again?.of ?? u.of;
  const title = t && chats.get(t.chat)?.title;
  return (
    <li class="row">
      <span class="state dim">
        <Icon name={kind.icon} />
        {kind.word}
      </span>
      <div class="row-main">
        {u.turn && (
          <a class="row-name" href={`/turns/${u.turn}`}>
            {title || `Turn ${u.turn}`}
          </a>
        )}
        {!u.turn && u.name && <span>{u.name}</span>}
        {of ? (
          <span class="dim">
            {n} of {of}
          </span>
        ) : (
          !u.turn && u.count && <span class="dim">{count(u.count, "turn waits", "turns wait")} for it</span>
        )}
      </div>
      <p class="row-when">
        <Countdown at={u.at} />
        <span class="dim">{hhmmss(u.at)}</span>
      </p>
    </li>
  );
}
