// The title of a chat, changed in place.

import { act, chats, failed, useEffect, useRef } from "#app";
import type { Chat } from "../lib/wire";

export function Rename({ chat, done }: { chat: Chat; done: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  useEffect(() => input.current!.select(), []);
  const end = (keep: boolean) => {
    if (over.current) return;
    over.current = true;
    if (keep) void rename(chat, input.current!.value);
    done();
  };
  const key = (e: KeyboardEvent) => {
    if (e.isComposing || (e.key !== "Enter" && e.key !== "Escape")) return;
    e.preventDefault();
    end(e.key === "Enter");
  };
  return <input ref={input} class="rename" aria-label="Title of this chat" maxLength={120} defaultValue={chat.title} onKeyDown={key} onBlur={() => end(true)} />;
}

async function rename(c: Chat, title: string): Promise<void> {
  const next = title.trim();
  if (!next || next === c.title) return;
  chats.put(c.id, { ...c, title: next });
  try {
    await act("chat.rename", c.id, { title: next });
  } catch (e) {
    chats.put(c.id, c);
    failed(e);
  }
}
