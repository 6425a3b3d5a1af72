// One chat: its head, transcript and composer.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { botOf, newChat, titleOf } from "../lib/chats";
import { synced } from "../lib/link";
import { outbox } from "../lib/outbox";
import { failed, title } from "../lib/say";
import { chats, held, messages, page } from "../lib/state";
import type { Chat } from "../lib/wire";
import { Composer } from "./composer";
import { Icon } from "./icon";
import { fetchMore, More } from "./more";
import { MenuButton } from "./sidebar";
import { Transcript } from "./transcript";

export function ChatView({ id }: { id: string }) {
  const c = chats.get(id);
  useEffect(() => {
    title.value = c ? `${titleOf(c)} · Holdfast` : "Holdfast";
  }, [c?.title]);
  const empty = !messages.all().some((m) => m.chat === id) && !outbox.value.some((i) => i.chat === id);
  const ready = held.value.has(id) || synced.value === id || !empty;
  return (
    <main class="chat" id="main">
      <Head id={id} chat={c} />
      {!ready ? <div class="scroller" aria-busy="true" /> : empty ? <More view={(m) => <m.Welcome chat={id} />} /> : <Transcript key={id} chat={id} />}
      <Composer chat={id} />
    </main>
  );
}

function Head({ id, chat: c }: { id: string; chat: Chat | undefined }) {
  const editing = useSignal(false);
  const bot = page.value?.bots.find((b) => b.name === botOf(id));
  const visitor = page.value?.visitor;
  return (
    <header class="head">
      {!visitor && <MenuButton />}
      {editing.value && c ? <More view={(m) => <m.Rename chat={c} done={() => (editing.value = false)} />} /> : <h1>{titleOf(c)}</h1>}
      <span class={c ? "head-model wide-only" : "head-model"} title={bot?.models.join(", then ")}>
        {bot ? [bot.name, bot.models[0]].filter(Boolean).join(" · ") : (c?.bot ?? "")}
      </span>
      {visitor && c && (
        <button type="button" class="quiet" onClick={newChat}>
          <Icon name="plus" />
          New chat
        </button>
      )}
      {c && !visitor && !editing.value && (
        <>
          <button type="button" class="quiet icon-only" aria-label="Rename this chat" title="Rename" onClick={() => (editing.value = true)}>
            <Icon name="pencil" />
          </button>
          <button type="button" class="quiet icon-only" aria-label="Delete this chat" title="Delete" onClick={() => fetchMore().then((m) => m.remove(c), failed)}>
            <Icon name="trash" />
          </button>
        </>
      )}
    </header>
  );
}
