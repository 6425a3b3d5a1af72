// The tool calls of a turn, in order: what was called, how it went and how long it took; arguments and
// result on demand.

import { Folded, Icon, Time } from "#app";
import type { Call, CallState } from "../lib/wire";
import { count, hhmmss, span } from "../lib/words";
import type { IconName } from "../view/icon";

const words: Record<CallState, string> = { asked: "To be approved", running: "Running", done: "Done", failed: "Failed", unknown: "Not known whether it happened", denied: "Denied" };
const icons: Record<CallState, IconName> = { asked: "gate", running: "running", done: "check", failed: "failed", unknown: "refused", denied: "close" };
const tones: Record<CallState, string> = { asked: "wait", running: "busy", done: "good", failed: "bad", unknown: "bad", denied: "dim" };

const few = 3; // finished calls that are listed without being asked for

export function Calls({ calls, done }: { calls: readonly Call[]; done: boolean }) {
  const list = () => (
    <ul class="calls" aria-label="Tool calls">
      {calls.map((c) => (
        <li key={c.id}>
          <Card c={c} />
        </li>
      ))}
    </ul>
  );
  return done && calls.length > few ? <Folded word={count(calls.length, "tool call")}>{list}</Folded> : list();
}

function Card({ c }: { c: Call }) {
  const word = (
    <>
      <span class={`state ${tones[c.state]}`}>
        <Icon name={icons[c.state]} spin={c.state === "running"} />
        {words[c.state]}
      </span>
      <b class="call-name">{c.title || c.name}</b>
      {c.ms !== null && c.state !== "denied" && <span class="dim">{span(c.ms)}</span>}
      {c.state === "running" && c.progress && <span class="dim">{c.progress}</span>}
    </>
  );
  return (
    <Folded kind="call" word={word}>
      {() => (
        <div class="call-body">
          <p class="dim">
            {c.name} at <Time at={c.at}>{hhmmss(c.at)}</Time>
          </p>
          <Given args={c.args} of={c.name} />
          {c.result !== null && <Text name="Result" of={c.name} text={c.result} />}
        </div>
      )}
    </Folded>
  );
}

// Given are the arguments of a call.
export function Given({ args, of }: { args: string; of: string }) {
  return args && args !== "{}" ? <Text name="Arguments" of={of} text={args} /> : <p class="dim">Without arguments.</p>;
}

function Text({ name, of, text }: { name: string; of: string; text: string }) {
  return (
    <>
      <h3>{name}</h3>
      <pre class="raw" dir="ltr" tabIndex={0} role="region" aria-label={`${name} of ${of}`}>
        {visible(pretty(text))}
      </pre>
    </>
  );
}

// pretty gives JSON a line per field; anything else, also what was cut, stays as it is.
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// visible writes characters that hide, or turn around what stands beside them, as escapes: what is
// approved is what is read.
const visible = (text: string) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
