// The retry bubble: what a waiting turn shows in place of its answer.

import { act, Refusal } from "../lib/api";
import { tell } from "../lib/say";
import { page } from "../lib/state";
import type { Turn } from "../lib/wire";
import { because, count, hhmmss, stateWord, wakes } from "../lib/words";
import { Countdown, Folded, Press, Ring } from "./bits";
import { More } from "./more";

export function Retry({ turn: t }: { turn: Turn }) {
  if (page.value?.visitor) return <p class="working">{because(t.reason)}</p>;
  const stale = t.reason?.why === "stale";
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
        {t.reason?.why !== "approval" && <TryNow turn={t} word={stale ? "Yes" : undefined} />}
        <Press act={() => act("turn.stop", t.id)} icon={stale ? "close" : "stop"}>
          {stale ? "No" : "Stop"}
        </Press>
      </div>
      <Folded word="Why the wait">{() => <More view={(m) => <m.Why id={t.id} />} />}</Folded>
    </section>
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
