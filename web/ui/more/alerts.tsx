// What somebody should look at. One that an operator has seen stays until its cause is gone, but quietly.

import { act, alerts, Icon, now, Press, turns } from "#app";
import type { Alert } from "../lib/wire";
import { when } from "../lib/words";

export function Alerts() {
  const rows = alerts.all().sort((a, b) => Number(!!a.acked) - Number(!!b.acked) || (a.since < b.since ? -1 : 1));
  if (!rows.length) return null;
  return (
    <section>
      <h2>Alerts</h2>
      <ul class="cards">
        {rows.map((a) => (
          <AlertCard key={a.id} a={a} />
        ))}
      </ul>
    </section>
  );
}

function AlertCard({ a }: { a: Alert }) {
  const kind = a.kind.replaceAll("_", " ");
  return (
    <li class={a.acked ? "card seen" : "card bad"}>
      <p class={a.acked ? "state dim" : "state bad"}>
        <Icon name={a.acked ? "check" : "bell"} />
        <span class="kind">{kind}</span>
      </p>
      <p>{a.text}</p>
      <p class="dim">
        since {when(a.since, now())}
        {a.acked && `, seen ${when(a.acked, now())}`}
        {a.subject && turns.peek(a.subject) && (
          <>
            , <a href={`/turns/${a.subject}`}>turn {a.subject}</a>
          </>
        )}
      </p>
      {!a.acked && a.id && (
        <Press act={() => act("alert.ack", a.id)} icon="check" label={`Ack ${kind}${a.subject ? ` of ${a.subject}` : ""}`}>
          Ack
        </Press>
      )}
    </li>
  );
}
