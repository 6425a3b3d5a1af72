// The transcript and its scroll rule: it follows the end only while the reader is there (within
// 64 px); any move upward unpins it.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import * as clock from "../lib/clock";
import { drop, outbox, retry, type Item } from "../lib/outbox";
import { chats, messages, page as about, turns } from "../lib/state";
import { lines, type Line } from "../lib/transcript";
import type { Choice } from "../lib/versions";
import { live, type Message } from "../lib/wire";
import { dayName, hhmm } from "../lib/words";
import { Time } from "./bits";
import { Bubble } from "./bubble";
import { Html } from "./html";
import { Icon } from "./icon";
import { More } from "./more";

const near = 64; // px from the end that count as at the end
const page = 50; // a transcript shorter than this has nothing above it

export function Transcript({ chat }: { chat: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const mine = messages.all().filter((m) => m.chat === chat);
  const going = outbox.value.filter((i) => i.chat === chat);
  const open = turns.all().filter((t) => t.chat === chat && live(t));
  const chosen = useSignal<ReadonlyMap<string, Choice>>(new Map());
  const pick = useMemo(() => (c: Choice) => (chosen.value = new Map(chosen.peek()).set(c.key, c)), []);
  const list = lines({ messages: mine, turn: (id) => turns.get(id), going, open: open.map((t) => t.id), chosen: chosen.value });
  const { below, toEnd } = useFollow(scroller, inner, chat, going[going.length - 1]?.id);
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label="Conversation">
      <div class="lines" ref={inner}>
        {mine.length >= page && <More view={(m) => <m.Older key={chat} chat={chat} scroller={scroller} />} meanwhile={null} />}
        {list.map((l) => (
          <Entry key={l.key} line={l} pick={pick} />
        ))}
      </div>
      {below && (
        <button type="button" class={below === "new" ? "to-end" : "to-end round"} onClick={toEnd} aria-label={below === "new" ? undefined : "To the end"}>
          <Icon name="down" />
          {below === "new" && "New messages"}
        </button>
      )}
    </div>
  );
}

function Entry({ line: l, pick }: { line: Line; pick: (c: Choice) => void }) {
  switch (l.is) {
    case "day":
      return <div class="day">{dayName(l.at, clock.now())}</div>;
    case "said":
      return l.message.role === "user" ? <Said m={l.message} last={l.last} /> : <div class="bubble">{<Plain m={l.message} />}</div>;
    case "bubble":
      return <Bubble turn={l.turn} posts={l.posts} last={l.last} choice={l.choice} pick={pick} />;
    case "going":
      return <Going item={l.item} />;
  }
}

const Plain = ({ m }: { m: Message }) => <div class="md">{m.html !== null ? <Html html={m.html} closed /> : <p class="plain">{m.text}</p>}</div>;

function Said({ m, last }: { m: Message; last: boolean }) {
  const editing = useSignal(false);
  const done = () => (editing.value = false);
  if (editing.value) return <More view={(b) => <b.Edit message={m} done={done} />} />;
  const mine = last && m.turn && chats.get(m.chat)?.surface === "web" && !about.value?.visitor;
  return (
    <article class="said" data-message={m.id} aria-label={m.name ? `${m.name} said` : "You said"}>
      <div class="said-text">{m.html !== null ? <div class="md"><Html html={m.html} closed /></div> : <p class="plain" dir="auto">{m.text}</p>}</div>
      <footer class="foot on-hover">
        {m.name && <span>{m.name}</span>}
        <Time at={m.at}>{hhmm(m.at)}</Time>
        {mine && (
          <button type="button" class="quiet icon-only small" aria-label="Edit this message" title="Edit" onClick={() => (editing.value = true)}>
            <Icon name="pencil" />
          </button>
        )}
      </footer>
    </article>
  );
}

const goingWords = { queued: "Queued", sending: "Sending", sent: "Sent", failed: "Not sent" };

// Going is a message on its way to the daemon.
function Going({ item: i }: { item: Item }) {
  return (
    <article class={i.state === "failed" ? "said unsent" : "said"} data-out={i.id} aria-label="You said">
      <div class="said-text">
        <p class="plain" dir="auto">
          {i.text}
        </p>
      </div>
      <footer class="foot">
        <span class={i.state === "failed" ? "state bad" : "state dim"}>
          <Icon name={i.state === "failed" ? "failed" : i.state === "sent" ? "check" : "clock"} />
          {goingWords[i.state]}
        </span>
        {i.state === "failed" && (
          <>
            <span>{i.error}</span>
            <button type="button" class="quiet small" onClick={() => retry(i)}>
              Retry
            </button>
            <button type="button" class="quiet small" onClick={() => drop(i.id)}>
              Discard
            </button>
          </>
        )}
      </footer>
    </article>
  );
}

// useFollow keeps the end in sight while the reader is there. sent is the id of the newest message on
// its way: one's own message is always shown.
function useFollow(scroller: RefObject<HTMLDivElement | null>, inner: RefObject<HTMLDivElement | null>, chat: string, sent: string | undefined) {
  const pinned = useRef(true);
  const below = useSignal<"" | "some" | "new">("");
  const toEnd = () => {
    pinned.current = true;
    below.value = "";
    const s = scroller.current!;
    s.scrollTop = s.scrollHeight;
  };
  useLayoutEffect(() => {
    pinned.current = true; // what has grown is scrolled to below, once it is laid out
  }, [chat, sent]);
  useEffect(() => {
    const s = scroller.current!;
    let [top, width, height] = [0, 0, 0]; // when it was last laid out: asking now would have it laid out for that
    const moved = () => {
      const left = s.scrollHeight - s.clientHeight - s.scrollTop;
      if (s.scrollTop < top - 1 && left > 1) pinned.current = false;
      else if (left <= near) pinned.current = true;
      if (pinned.current || left <= near) below.value = "";
      else if (!below.peek()) below.value = "some";
      top = s.scrollTop;
    };
    const grown = new ResizeObserver(() => {
      if (pinned.current) s.scrollTop = s.scrollHeight;
      else if (s.scrollHeight > height && s.clientWidth === width) below.value = "new";
      [top, width, height] = [s.scrollTop, s.clientWidth, s.scrollHeight];
    });
    s.addEventListener("scroll", moved, { passive: true });
    grown.observe(inner.current!);
    grown.observe(s);
    return () => {
      s.removeEventListener("scroll", moved);
      grown.disconnect();
    };
  }, []);
  return { below: below.value, toEnd };
}
