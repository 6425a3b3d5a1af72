// The transcript and its scroll rule: it follows the end only while the reader is there (within
// 64 px); any move upward unpins it.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { get } from "../lib/api";
import * as clock from "../lib/clock";
import { drop, outbox, retry, type Item } from "../lib/outbox";
import { failed } from "../lib/say";
import { chats, messages, page as about, turns } from "../lib/state";
import { lines, type Line } from "../lib/transcript";
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
  const list = lines(mine, (id) => turns.get(id), going, open.map((t) => t.id));
  const { below, toEnd } = useFollow(scroller, inner, chat, going[going.length - 1]?.id);
  const older = useOlder(chat, mine, scroller);
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label="Conversation">
      <div class="lines" ref={inner}>
        {older}
        {list.map((l) => (
          <Entry key={l.key} line={l} />
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

function Entry({ line: l }: { line: Line }) {
  switch (l.is) {
    case "day":
      return <div class="day">{dayName(l.at, clock.now())}</div>;
    case "said":
      return l.message.role === "user" ? <Said m={l.message} last={l.last} /> : <div class="bubble">{<Plain m={l.message} />}</div>;
    case "bubble":
      return <Bubble turn={l.turn} posts={l.posts} last={l.last} />;
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
  useLayoutEffect(toEnd, [chat, sent]);
  useEffect(() => {
    const s = scroller.current!;
    let top = s.scrollTop;
    let width = s.clientWidth;
    let height = s.scrollHeight;
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

// useOlder fetches what stands above once the reader comes near the top.
function useOlder(chat: string, mine: Message[], scroller: RefObject<HTMLDivElement | null>) {
  const top = useRef<HTMLDivElement>(null);
  const state = useSignal<"more" | "busy" | "end">("more");
  const first = mine.reduce<Message | undefined>((a, m) => (!a || m.at < a.at ? m : a), undefined);
  const before = useRef(first?.id);
  before.current = first?.id;
  const more = mine.length >= page && state.value !== "end";
  useEffect(() => {
    state.value = "more";
  }, [chat]);
  useEffect(() => {
    if (!more || !top.current) return;
    const seen = new IntersectionObserver((e) => e.some((x) => x.isIntersecting) && void fetchOlder(), { root: scroller.current, rootMargin: "400px 0px 0px" });
    const fetchOlder = async () => {
      if (state.peek() !== "more") return;
      state.value = "busy";
      const s = scroller.current!;
      try {
        const r = await get<{ messages: Message[] | null; next: string | null }>(`/api/v1/chats/${chat}/messages?before=${before.current}`);
        const height = s.scrollHeight;
        const at = s.scrollTop;
        for (const m of r.messages ?? []) if (!messages.peek(m.id)) messages.put(m.id, m);
        requestAnimationFrame(() => {
          if (s.scrollTop === at) s.scrollTop = at + s.scrollHeight - height;
          state.value = r.next && r.messages?.length ? "more" : "end";
        });
      } catch (e) {
        failed(e);
        state.value = "end";
      }
    };
    seen.observe(top.current);
    return () => seen.disconnect();
  }, [chat, more, state.value]);
  return more ? <div ref={top} class="older">{state.value === "busy" ? "Fetching older messages…" : ""}</div> : null;
}
