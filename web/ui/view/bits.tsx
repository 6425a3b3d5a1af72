// Small things that several views use.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import * as clock from "../lib/clock";
import { copy } from "../lib/copy";
import { failed } from "../lib/say";
import type { Outcome, TurnState } from "../lib/wire";
import { digits, fullTime, stateWord } from "../lib/words";
import { Icon, type IconName } from "./icon";

// tone is the colour that goes with a state, never alone.
export function tone(state: TurnState, outcome?: Outcome | null): string {
  if (state !== "done") return state === "queued" || state === "running" ? "busy" : "wait";
  return outcome === "failed" || outcome === "refused" ? "bad" : outcome === "answered" ? "good" : "dim";
}

export function State({ state, outcome }: { state: TurnState; outcome?: Outcome | null }) {
  const icon: IconName = state === "done" ? (outcome ?? "answered") : state;
  return (
    <span class={`state ${tone(state, outcome)}`}>
      <Icon name={icon} spin={state === "running"} />
      {stateWord(state, outcome)}
    </span>
  );
}

// late is how long after its time a wait is called overdue.
const late = 10_000;

// Countdown shows the time left until `at`, by the server's clock, and the word once it is over.
export function Countdown({ at, word = "Retrying…" }: { at: string; word?: string }) {
  clock.second.value;
  const left = Date.parse(at) - clock.now();
  if (left > 0) return <span class="digits">{digits(left)}</span>;
  return <span>{left > -late ? word : "Waiting for the daemon"}</span>;
}

// Press is a button that carries out something and is busy meanwhile. What goes wrong is said in a
// note, the page stays as it is.
export function Press({ act, children, kind = "", label, icon }: { act: () => Promise<unknown>; children?: ComponentChildren; kind?: string; label?: string; icon?: IconName }) {
  const [busy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    try {
      await act();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button type="button" class={kind} onClick={press} disabled={busy} aria-label={label} title={label}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  const press = async () => {
    setDone(await copy(text));
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="quiet icon-only small" onClick={press} aria-label={done ? "Copied" : label} title={label}>
      <Icon name={done ? "check" : "copy"} />
    </button>
  );
}

// Time is a moment, written in full only for who points at it: a long chat has many.
export function Time({ at, children }: { at: string; children: ComponentChildren }) {
  return (
    <time dateTime={at} onPointerEnter={(e) => (e.currentTarget.title = fullTime(at))}>
      {children}
    </time>
  );
}

// Folded shows its content on demand, and makes it only then.
export function Folded({ word, children, kind = "" }: { word: ComponentChildren; children: () => ComponentChildren; kind?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details class={`folded ${kind}`} onToggle={(e) => setOpen((e.target as HTMLDetailsElement).open)}>
      <summary>
        <Icon name="chevron" />
        {word}
      </summary>
      {open && children()}
    </details>
  );
}
