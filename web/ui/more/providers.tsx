// Every model in use, by provider: whether it takes requests, and how it has answered lately. The first
// card of a provider has its switch.

import { act, Countdown, Icon, now, Press, second, turns } from "#app";
import { waiting, type Gate } from "../lib/wire";
import { count, hhmmss, span, when } from "../lib/words";
import { models, standing, standingIcons, standingTones, standingWords, type Model } from "./models";
import { isPaused, Pause, type Pauses } from "./pause";

export function Providers(p: Pauses) {
  const rows = models().sort((a, b) => (a.provider < b.provider ? -1 : a.provider > b.provider ? 1 : 0));
  if (!rows.length) return null;
  return (
    <section>
      <h2>Providers</h2>
      <ul class="cards">
        {rows.map((m, i) => (
          <ModelCard key={m.id} m={m} first={rows[i - 1]?.provider !== m.provider} {...p} />
        ))}
      </ul>
    </section>
  );
}

function ModelCard({ m, first, ...p }: Pauses & { m: Model; first: boolean }) {
  if (m.row?.cooldown_until) second.value;
  const { is, until } = standing(m, isPaused(p.paused, m.provider));
  const g = m.gate;
  const error = g?.error ?? m.row?.last_error;
  return (
    <li class="card">
      <p class={`state ${standingTones[is]}`}>
        <Icon name={standingIcons[is]} />
        {standingWords[is]}
        {until && (
          <span class="card-count">
            <Countdown at={until} />
          </span>
        )}
      </p>
      <p class="card-name">{m.id}</p>
      {g && (
        <p class="dim">
          {g.since && `Since ${when(g.since, now())}. `}
          <Crowd m={m} g={g} />
          {g.until && ` Asked again at ${hhmmss(g.until)}.`}
        </p>
      )}
      {is === "cooling" && (
        <p class="dim">
          Passed over until {hhmmss(until!)}
          {m.row?.cooldown_reason && ` (${m.row.cooldown_reason.replaceAll("_", " ")})`} while another model of the chain answers.
        </p>
      )}
      {m.row?.no_key && <p class="state bad">There is no key for it.</p>}
      {m.row && <Figures m={m} />}
      {error && <p class="card-error">{is === "open" ? `Last error: ${error}` : error}</p>}
      {(g || first) && (
        <div class="row-acts">
          {g && (
            <Press kind="small" act={() => act("hold.release", m.id)} icon="bolt" label={`Release ${m.id}`}>
              Release
            </Press>
          )}
          {first && <Pause target={m.provider} {...p} />}
        </div>
      )}
    </li>
  );
}

// Crowd says how many turns of how many people wait for a model, and the oldest of them. Its row is told
// whenever they change, the gate only when that moves.
function Crowd({ m, g }: { m: Model; g: Gate }) {
  const { waiting: n, people } = m.row ?? g;
  if (!n) return <>Nobody waits for it.</>;
  const line = turns.all().filter((t) => waiting(t) && t.reason?.provider === m.provider && t.reason.model === m.name);
  const first = line.length ? line.reduce((a, t) => (t.created < a.created ? t : a)) : null;
  return (
    <>
      {count(n, "turn")} of {count(people, "person", "people")} {n === 1 ? "waits" : "wait"}
      {first && (
        <>
          , the <a href={`/turns/${first.id}`}>oldest</a> since {when(first.created, now())}
        </>
      )}
      .
    </>
  );
}

function Figures({ m }: { m: Model }) {
  const r = m.row!;
  return (
    <p class="dim">
      {r.requests ? `${count(r.requests, "request")} in the last hour, ${r.failures || "none"} failed. ` : "No request in the last hour. "}
      {r.median_ms ? `Half answer within ${span(r.median_ms)}. ` : ""}
      {r.last_ok && `Last answer ${when(r.last_ok, now())}.`}
    </p>
  );
}
