// A button for what cannot be taken back: it asks once more.

import { Press, useEffect, useRef, useSignal } from "#app";

export function Sure({ word, label, act }: { word: string; label: string; act: () => Promise<unknown> }) {
  const asked = useSignal(false);
  const box = useRef<HTMLSpanElement>(null);
  const now = asked.value; // as it is drawn: an effect may run late
  useEffect(() => {
    if (now) box.current?.querySelector("button")?.focus();
  }, [now]);
  if (!now)
    return (
      <button type="button" class="small" aria-label={label} onClick={() => (asked.value = true)}>
        {word}…
      </button>
    );
  return (
    <span ref={box} class="row-acts" role="group" aria-label={`Confirm: ${label}`}>
      <Press kind="small" act={act}>
        {word}
      </Press>
      <button type="button" class="small" onClick={() => (asked.value = false)}>
        Keep it
      </button>
    </span>
  );
}
