// The bot's part of a turn: queued, streaming, waiting, or answered. Whatever the server says of the
// turn decides; there is no state that the page keeps of its own.

import { memo } from "../lib/memo";
import { stream, turns } from "../lib/state";
import { waiting, type Message, type Turn } from "../lib/wire";
import { count, hhmm } from "../lib/words";
import { CopyButton, State, Time } from "./bits";
import { Html } from "./html";
import { Retry } from "./retry";

interface Props {
  turn: string;
  posts: readonly Message[];
}

export const Bubble = memo(function Bubble({ turn, posts }: Props) {
  const t = turns.get(turn);
  return (
    <article class="bubble" data-turn={turn} aria-label={t ? `Answer of ${t.bot}` : "Answer"}>
      {body(t, turn, posts)}
    </article>
  );
}, same);

// same tells whether the posts are those drawn last; the turn itself is followed by its signal.
function same(a: Props, b: Props): boolean {
  return a.turn === b.turn && a.posts.length === b.posts.length && a.posts.every((p, i) => p === b.posts[i]);
}

function body(t: Turn | undefined, id: string, posts: readonly Message[]) {
  if (!t) return posts.map((m) => <Post key={m.id} m={m} />);
  if (waiting(t)) return <Retry turn={t} />;
  if (t.state !== "done") return <Running t={t} />;
  if (t.outcome === "merged") return null;
  const told = posts.filter((m) => m.kind !== "notice");
  return (
    <>
      {told.length ? told.map((m) => <Post key={m.id} m={m} />) : <Rest t={t} id={id} />}
      <Foot t={t} posts={told} />
    </>
  );
}

function Post({ m }: { m: Message }) {
  const kind = m.kind === "terminal" ? "md terminal" : m.kind === "notice" || m.kind === "mention" ? "md notice" : "md";
  return <div class={kind}>{m.html !== null ? <Html html={m.html} closed /> : <p class="plain" dir="auto">{m.text}</p>}</div>;
}

// Running is an answer on its way: its blocks so far, or a sign that it is worked on.
function Running({ t }: { t: Turn }) {
  const blocks = stream(t.id).value;
  if (blocks.length) return <Blocks blocks={blocks} open />;
  const again = t.attempts_n > 1 || t.parks_n > 0;
  return (
    <p class="working">
      <span class="dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {t.state === "queued" ? "Queued" : again ? `Trying again, attempt ${Math.max(1, t.attempts_n)}` : "Thinking"}
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

function Foot({ t, posts }: { t: Turn; posts: readonly Message[] }) {
  const last = posts[posts.length - 1];
  const text = posts.map((m) => m.text).join("\n\n") || t.text || "";
  const trouble = t.attempts_n > 1 || t.parks_n > 0;
  return (
    <footer class="foot">
      {t.outcome !== "answered" && <State state={t.state} outcome={t.outcome} />}
      {last && <Time at={last.edited ?? last.at}>{hhmm(last.edited ?? last.at)}</Time>}
      {t.model && <span>{t.model}</span>}
      <a href={`/turns/${t.id}`} class={trouble ? "" : "on-hover"}>
        {trouble ? `after ${count(t.attempts_n, "attempt")}` : "details"}
      </a>
      {text && <CopyButton text={text} label="Copy the answer" />}
    </footer>
  );
}
