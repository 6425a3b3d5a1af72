// What a person has to say yes or no to: calls that would change something, or one of which nobody
// knows whether it happened. Each is shown with all that it would be given.

import { act, chats, Icon, Press, turns } from "#app";
import { waiting, type Approval, type Turn } from "../lib/wire";
import { count } from "../lib/words";
import { Given } from "./calls";

const words = {
  approval: { ask: "May this be done?", yes: "Approve", no: "Deny" },
  unknown: { ask: "It was cut off, and nobody can tell whether this happened. Do it again?", yes: "Do it", no: "Leave it" },
};

export function Ask({ a }: { a: Approval }) {
  const w = words[a.kind] ?? words.approval;
  const decide = (allow: boolean) => act("approval.decide", a.id, { allow });
  const names = a.calls.map((c) => c.title || c.name).join(", ");
  return (
    <>
      <p class="retry-why">
        <strong>{w.ask}</strong>
      </p>
      <ul class="asked">
        {a.calls.map((c) => (
          <li key={c.id}>
            <p>
              <b>{c.title || c.name}</b> <span class="dim">{c.name}</span>{" "}
              {c.destructive && (
                <span class="state bad">
                  <Icon name="failed" />
                  cannot be undone
                </span>
              )}
            </p>
            <Given args={c.args} of={c.name} />
          </li>
        ))}
      </ul>
      <div class="row-acts">
        <Press kind={a.calls.some((c) => c.destructive) ? "" : "primary"} act={() => decide(true)} icon="check" label={`${w.yes}: ${names}`}>
          {w.yes}
        </Press>
        <Press act={() => decide(false)} icon="close" label={`${w.no}: ${names}`}>
          {w.no}
        </Press>
      </div>
    </>
  );
}

// Approvals are all that wait for a word.
export function Approvals() {
  const rows = turns.all().filter((t): t is Turn & { approval: Approval } => waiting(t) && !!t.approval);
  if (!rows.length) return null;
  return (
    <section id="approvals">
      <h2>{count(rows.length, "approval waits", "approvals wait")} for you</h2>
      <ul class="cards wide-cards">
        {rows.map((t) => (
          <li key={t.id} class="card asks">
            <p class="dim">
              {t.bot}, <a href={`/turns/${t.id}`}>{chats.get(t.chat)?.title || `turn ${t.id}`}</a>
            </p>
            <Ask a={t.approval} />
          </li>
        ))}
      </ul>
    </section>
  );
}
