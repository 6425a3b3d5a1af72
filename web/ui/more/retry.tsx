// The retry bubble: what a waiting turn shows in place of its answer.

import { act, Countdown, Folded, now, Press, Refusal, second, tell } from "#app";
import type { Approval, Turn } from "../lib/wire";
import { because, count, hhmmss, stateWord, wakes } from "../lib/words";
import { Ask } from "./approval";
import { Why } from "./why";

export function Retry({ turn: t }: { turn: Turn }) {
  const stale = t.reason?.why === "stale";
  if (t.approval) return <Asks t={t} a={t.approval} />;
  return (
    <section class="retry" aria-label="Waiting to try again">
      <Ring at={t.retry_at} ms={t.wait_ms} />
      <div class="retry-what">
        <p class="retry-why">
          <strong>{because(t.reason)}</strong>
        </p>
        <p class="retry-when">
          {t.retry_at && (
            <>
              <span class="retry-count">
                <Countdown at={t.retry_at} />
              </span>
              <span>Goes on at {hhmmss(t.retry_at)}</span>
            </>
          )}
          <span class="dim">{position(t)}</span>
          <span>{wakes(t)}</span>
        </p>
      </div>
      <div class="retry-acts">
        <TryNow turn={t} word={stale ? "Yes" : undefined} />
        <Press act={() => act("turn.stop", t.id)} icon={stale ? "close" : "stop"}>
          {stale ? "No" : "Stop"}
        </Press>
      </div>
      <Folded word="Why the wait">{() => <Why id={t.id} />}</Folded>
    </section>
  );
}

// Asks is a turn that waits for a person's word.
function Asks({ t, a }: { t: Turn; a: Approval }) {
  return (
    <section class="retry asks" aria-label="Waiting for your word">
      <Ask a={a} />
      <p class="dim">
        {wakes(t)} Nobody else is held up.
        <Press kind="quiet small" act={() => act("turn.stop", t.id)} icon="stop">
          Stop
        </Press>
      </p>
    </section>
  );
}

// Ring is what is left of a wait, as an arc around a throbbing dot.
function Ring({ at, ms }: { at: string | null; ms: number | null }) {
  let left = 0;
  if (at) {
    second.value;
    left = Math.max(0, Date.parse(at) - now());
  }
  const part = at && ms ? Math.min(1, left / ms) : 0;
  const round = 2 * Math.PI * 15;
  return (
    <svg class="ring" viewBox="0 0 36 36" aria-hidden="true">
      <circle class="track" cx="18" cy="18" r="15" />
      <circle class="arc" cx="18" cy="18" r="15" stroke-dasharray={`${round * part} ${round}`} transform="rotate(-90 18 18)" />
      <circle class="throb" cx="18" cy="18" r="4.5" />
    </svg>
  );
}

// position says how far the ladder has been climbed.
function position(t: Turn): string {
  const n = t.attempts_n ? count(t.attempts_n, "attempt") + " so far" : "";
  if (t.state === "rearming" && t.rearm) return `Sent again whole, ${t.rearm.n} of ${t.rearm.of}.`;
  return t.state === "owed" ? [stateWord(t.state), n].filter(Boolean).join(", ") : n;
}

export function TryNow({ turn: t, word }: { turn: Turn; word?: string }) {
  const press = async () => {
    try {
      await act("turn.resume", t.id);
    } catch (e) {
      if (!(e instanceof Refusal) || e.code !== "held") throw e;
      tell(e.turn?.retry_at ? `Held by the provider until ${hhmmss(e.turn.retry_at)}.` : e.message);
    }
  };
  return (
    <Press act={press} icon={word ? "check" : "retrying"} kind={word && "primary"}>
      {word ?? "Try now"}
    </Press>
  );
}
