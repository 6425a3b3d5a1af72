// Every model in use, by provider: whether it takes requests, and how it has answered lately. The first
// card of a provider has its switch.

import { act, Countdown, Icon, now, Press, second, turns } from "#app";
import { waiting } from "../lib/wire";
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
          {g.until && `Asked again at ${hhmmss(g.until)}. `}
          {count(g.waiting ?? 0, "turn waits", "turns wait")}
          {g.since && `, since ${when(g.since, now())}`}. <Oldest m={m} />
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

// Oldest says for how long somebody has waited for a model, and in how many chats.
function Oldest({ m }: { m: Model }) {
  const line = turns.all().filter((t) => waiting(t) && t.reason?.provider === m.provider && t.reason.model === m.name);
  if (!line.length) return null;
  const first = line.reduce((a, t) => (t.created < a.created ? t : a));
  return (
    <>
      The <a href={`/turns/${first.id}`}>oldest</a> was asked {when(first.created, now())}; {count(new Set(line.map((t) => t.chat)).size, "chat")} in all.
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
