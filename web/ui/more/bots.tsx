// The bots, and for each the models that answer for it, in the order they are tried.

import { Countdown, Icon, page, second } from "#app";
import { models, standing, standingIcons, standingTones, standingWords, type Model } from "./models";
import { isPaused, Pause, type Pauses } from "./pause";

export function Bots(p: Pauses) {
  const bots = page.value?.bots ?? [];
  const known = new Map(models().map((m) => [m.id, m]));
  if (!bots.length) return null;
  return (
    <section>
      <h2>Bots and their models</h2>
      <ul class="rows">
        {bots.map((b) => (
          <li class="row bot" key={b.name}>
            <span class={isPaused(p.paused, b.name) ? "state wait" : "state"}>
              {isPaused(p.paused, b.name) && <Icon name="parked" />}
              {b.name}
            </span>
            <ol class="chain" aria-label={`Models of ${b.name}, in order`}>
              {b.models.map((id) => (
                <Link key={id} id={id} m={known.get(id)} paused={p.paused} />
              ))}
            </ol>
            <div class="row-acts">
              <Pause target={b.name} {...p} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

// Link is one model of a chain.
function Link({ id, m, paused }: { id: string; m: Model | undefined; paused: readonly string[] }) {
  if (m?.row?.cooldown_until) second.value;
  const s = m ? standing(m, isPaused(paused, m.provider)) : { is: "open" as const, until: null };
  return (
    <li class={`badge link ${s.is}`}>
      <span class={`state ${standingTones[s.is]}`}>
        <Icon name={standingIcons[s.is]} />
        {s.is === "open" ? <span class="unseen">{standingWords[s.is]}</span> : standingWords[s.is]}
      </span>
      <span class="link-name">{id}</span>
      {s.until && <Countdown at={s.until} />}
    </li>
  );
}
