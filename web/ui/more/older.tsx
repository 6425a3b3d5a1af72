// What stands above the messages, or below the chats, that a snapshot brings: fetched when the reader
// comes near.

import { below, chats, failed, get, messages, putTurn, useEffect, useRef, useSignal } from "#app";
import type { RefObject } from "preact";
import type { Chat, Message, Turn } from "../lib/wire";

type At = "more" | "busy" | "end";

// useNear calls fetch whenever what it returns is near, or at once if told to, until that says the end.
function useNear(root: () => Element | null, margin: string, fetch: () => Promise<At>, hurry = false) {
  const here = useRef<HTMLDivElement>(null);
  const state = useSignal<At>("more");
  useEffect(() => {
    if (state.value !== "more") return;
    const go = async () => {
      if (state.peek() !== "more") return;
      state.value = "busy";
      try {
        state.value = await fetch();
      } catch (e) {
        failed(e);
        state.value = "end";
      }
    };
    if (hurry) return void go();
    const seen = new IntersectionObserver((e) => e.some((x) => x.isIntersecting) && void go(), { root: root(), rootMargin: margin });
    seen.observe(here.current!);
    return () => seen.disconnect();
  }, [state.value, hurry]);
  return { here, state: state.value };
}

export function Older({ chat, scroller }: { chat: string; scroller: RefObject<HTMLDivElement | null> }) {
  const fetch = async (): Promise<At> => {
    const s = scroller.current!;
    const r = await get<{ messages: Message[] | null; turns?: Turn[] | null; next: string | null }>(`/api/v1/chats/${chat}/messages?before=${first(chat)}`);
    const height = s.scrollHeight;
    const at = s.scrollTop;
    r.turns?.forEach(putTurn);
    for (const m of r.messages ?? []) if (!messages.peek(m.id)) messages.put(m.id, m);
    await new Promise(requestAnimationFrame);
    if (s.scrollTop === at) s.scrollTop = at + s.scrollHeight - height;
    return r.next && r.messages?.length ? "more" : "end";
  };
  const { here, state } = useNear(() => scroller.current, "400px 0px 0px", fetch);
  return (
    <div ref={here} class="older">
      {state === "busy" ? "Fetching older messages…" : ""}
    </div>
  );
}

// first is the id of the oldest message that is here.
function first(chat: string): string {
  let oldest: Message | undefined;
  for (const id of messages.ids.peek()) {
    const m = messages.peek(id)!;
    if (m.chat === chat && (!oldest || m.at < oldest.at)) oldest = m;
  }
  return oldest?.id ?? "";
}

// OlderChats is the end of the list of chats; with all it fetches what there is, so that a search finds it.
export function OlderChats({ all }: { all: boolean }) {
  const next = useRef<string | null>(null);
  const fetch = async (): Promise<At> => {
    const r = await get<{ chats: Chat[] | null; next: string | null }>(`/api/v1/chats?before=${next.current ?? below.peek()}`);
    next.current = r.next;
    for (const c of r.chats ?? []) if (!chats.peek(c.id)) chats.put(c.id, c);
    return r.next ? "more" : "end";
  };
  const { here, state } = useNear(() => here.current!.parentElement, "0px 0px 400px", fetch, all);
  return (
    <div ref={here} class="older">
      {state === "busy" ? "Fetching older chats…" : ""}
    </div>
  );
}
