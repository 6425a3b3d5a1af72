// The bot's part of a turn: queued, streaming, waiting, or answered. Whatever the server says of the
// turn decides; there is no state that the page keeps of its own.

import { act } from "../lib/api";
import { memo } from "../lib/memo";
import { page, stream, turns } from "../lib/state";
import { waiting, type Call, type Message, type Turn } from "../lib/wire";
import type { Choice } from "../lib/versions";
import { because, count, hhmm } from "../lib/words";
import { CopyButton, Press, State, Time } from "./bits";
import { Html } from "./html";
import { Icon } from "./icon";
import { More } from "./more";

interface Props {
  turn: string;
  posts: readonly Message[];
  last: boolean; // of its chat
  choice?: Choice; // if it is one of several versions
  pick: (c: Choice) => void;
}

export const Bubble = memo(function Bubble({ turn, posts, last, choice, pick }: Props) {
  const t = turns.get(turn);
  return (
    <article class="bubble" data-turn={turn} aria-label={t ? `Answer of ${t.bot}` : "Answer"}>
      {!!t?.calls?.length && <Calls t={t} calls={t.calls} />}
      {body(t, turn, posts, last)}
      {choice && <Versions c={choice} pick={pick} />}
    </article>
  );
}, same);

// same tells whether the posts are those drawn last; the turn itself is followed by its signal.
function same(a: Props, b: Props): boolean {
  return a.turn === b.turn && a.last === b.last && a.choice?.n === b.choice?.n && a.choice?.of === b.choice?.of && a.posts.length === b.posts.length && a.posts.every((p, i) => p === b.posts[i]);
}

function body(t: Turn | undefined, id: string, posts: readonly Message[], last: boolean) {
  if (!t) return posts.map((m) => <Post key={m.id} m={m} />);
  if (waiting(t)) return <Waits t={t} />;
  if (t.state !== "done") return <Running t={t} />;
  if (t.outcome === "merged") return null;
  const told = posts.filter((m) => m.kind !== "notice");
  return (
    <>
      {told.length ? told.map((m) => <Post key={m.id} m={m} />) : <Rest t={t} id={id} />}
      <Foot t={t} posts={told} last={last} />
    </>
  );
}

function Post({ m }: { m: Message }) {
  const kind = m.kind === "terminal" ? "md terminal" : m.kind === "notice" || m.kind === "mention" ? "md notice" : "md";
  return <div class={kind}>{m.html !== null ? <Html html={m.html} closed /> : <p class="plain" dir="auto">{m.text}</p>}</div>;
}

// Waits is a turn that waits: why, in a line, and with the second bundle all about it.
function Waits({ t }: { t: Turn }) {
  const why = <p class="working">{because(t.reason)}</p>;
  return page.value?.visitor ? why : <More view={(m) => <m.Retry turn={t} />} meanwhile={why} />;
}

// Calls is what was done for the answer besides talking.
function Calls({ t, calls }: { t: Turn; calls: Call[] }) {
  return <More view={(m) => <m.Calls calls={calls} done={t.state === "done"} />} meanwhile={<p class="working">{count(calls.length, "tool call")}</p>} />;
}

// Versions turns to an earlier or later version of an answer.
function Versions({ c, pick }: { c: Choice; pick: (c: Choice) => void }) {
  const step = (by: number, word: string) => {
    const n = c.n + by;
    const none = n < 0 || n >= c.of;
    return (
      <button type="button" class="quiet icon-only small" aria-label={`${word} version`} title={`${word} version`} aria-disabled={none} onClick={() => none || pick({ ...c, n })}>
        <Icon name="chevron" />
      </button>
    );
  };
  return (
    <div class="versions" role="group" aria-label="Versions of this answer">
      {step(-1, "Earlier")}
      <span>
        {c.n + 1} / {c.of}
      </span>
      {step(1, "Later")}
    </div>
  );
}

// Running is an answer on its way: its blocks so far, or a sign that it is worked on.
function Running({ t }: { t: Turn }) {
  const blocks = stream(t.id).value;
  if (blocks.length) return <Blocks blocks={blocks} open />;
  const again = t.attempts_n > 1 || t.parks_n > 0;
  const first = page.value?.bots.find((b) => b.name === t.bot)?.models[0];
  const other = t.model && first && t.model !== first; // the chain has moved
  return (
    <p class="working">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {t.state === "queued" ? "Queued" : other ? `Asking ${t.model} instead` : again ? `Trying again, attempt ${Math.max(1, t.attempts_n)}` : "Thinking"}
    </p>
  );
}

function Blocks({ blocks, open }: { blocks: readonly string[]; open?: boolean }) {
  return (
    <div class={open ? "md open" : "md"}>
      {blocks.map((html, i) => (
        <Html key={i} html={html} closed={!open || i < blocks.length - 1} />
      ))}
    </div>
  );
}

// Rest is what stays of a turn that ended without a post of its own: what had streamed, or its text.
function Rest({ t, id }: { t: Turn; id: string }) {
  const blocks = stream(id).value;
  if (blocks.length) return <Blocks blocks={blocks} />;
  const text = t.text || (t.outcome === "failed" || t.outcome === "refused" ? t.error : "");
  if (!text) return null;
  return (
    <div class={t.outcome === "answered" || t.outcome === "cancelled" ? "md" : "md terminal"}>
      <p class="plain" dir="auto">
        {text}
      </p>
    </div>
  );
}

function Foot({ t, posts, last }: { t: Turn; posts: readonly Message[]; last: boolean }) {
  const end = posts[posts.length - 1];
  const owner = !page.value?.visitor;
  const text = posts.map((m) => m.text).join("\n\n") || t.text || "";
  const tools = !!t.calls?.length; // each round of them is an attempt more, and no trouble
  const trouble = t.parks_n > 0 || (tools ? t.reason?.why === "failure" : t.attempts_n > 1);
  return (
    <footer class="foot">
      {t.outcome !== "answered" && <State state={t.state} outcome={t.outcome} />}
      {end && <Time at={end.edited ?? end.at}>{hhmm(end.edited ?? end.at)}</Time>}
      {owner && t.model && <span>{t.model}</span>}
      {owner && (
        <a href={`/turns/${t.id}`} class={trouble ? "" : "on-hover"}>
          {trouble && !tools ? `after ${count(t.attempts_n, "attempt")}` : "details"}
        </a>
      )}
      {text && <CopyButton text={text} label="Copy the answer" />}
      {owner && last && t.surface === "web" && <Press kind="quiet icon-only small" act={() => act("turn.regenerate", t.id)} icon="retrying" label="Answer again; this one is kept" />}
    </footer>
  );
}
