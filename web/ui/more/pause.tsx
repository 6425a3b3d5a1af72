// The switches that stop all sending: for everybody, a provider or a bot. Turns wait meanwhile.

import { act, Icon, Press } from "#app";

export interface Pauses {
  paused: readonly string[]; // providers and bots; "" = everything
  again: () => Promise<void>; // reads them anew
}

// Pause is the switch of one provider or bot.
export function Pause({ target, paused, again }: Pauses & { target: string }) {
  const on = paused.includes(target);
  const press = async () => {
    await act(on ? "unpause" : "pause", target);
    await again();
  };
  const word = on ? "Unpause" : "Pause";
  return (
    <Press kind="small" act={press} icon={on ? "bolt" : "stop"}>
      {word} {target || "everything"}
    </Press>
  );
}

export function PausedAll(p: Pauses) {
  const all = p.paused.includes("");
  return (
    <section class="pauses" aria-label="Sending">
      {all ? (
        <p class="state wait">
          <Icon name="parked" />
          Everything is paused. Nothing is sent; what people say is kept.
        </p>
      ) : p.paused.length ? (
        <p class="state wait">
          <Icon name="parked" />
          Paused: {p.paused.join(", ")}
        </p>
      ) : (
        <p class="dim">Sending to all models.</p>
      )}
      <Pause target="" {...p} />
    </section>
  );
}

// isPaused is whether a provider or bot is paused, by itself or with everything.
export const isPaused = (p: readonly string[], target: string) => p.includes("") || p.includes(target);
