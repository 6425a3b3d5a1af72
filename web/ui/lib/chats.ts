// What a person does with chats: send, rename, delete with a way back, choose a bot for a new one.

import { signal } from "@preact/signals";
import { send } from "./api";
import { makeId } from "./ids";
import { save } from "./keep";
import * as outbox from "./outbox";
import { go, route } from "./route";
import { failed, hush, tell } from "./say";
import { chats, page, turns } from "./state";
import { live, type Chat, type Turn } from "./wire";

const undo = 6000; // ms in which a deletion can be taken back

// leaving are chats that are deleted for the eye, and soon for good.
export const leaving = signal<ReadonlySet<string>>(new Set());

// chosen is the bot for chats that do not exist yet.
export const chosen = signal<string | null>(null);

export const botOf = (chat: string): string => chats.get(chat)?.bot ?? chosen.value ?? page.value?.bots[0]?.name ?? "";

export const titleOf = (c: Chat | undefined): string => c?.title || "New chat";

export const draftKey = (chat: string) => "draft." + chat;

export function say(chat: string, text: string): void {
  outbox.add(chats.peek(chat)?.bot ?? chosen.peek() ?? "", chat, text);
}

export const newChat = () => go("/chats/" + makeId());

// liveTurn is the newest turn of a chat that is not done and not merged into another.
export function liveTurn(chat: string): Turn | undefined {
  return turns
    .all()
    .filter((t) => t.chat === chat && live(t) && !t.merged_into)
    .sort((a, b) => (a.created < b.created ? 1 : -1))[0];
}

export const newest = (): Chat | undefined =>
  chats
    .all()
    .filter((c) => !leaving.value.has(c.id))
    .sort((a, b) => (a.active < b.active ? 1 : -1))[0];

function leave(id: string, on: boolean): void {
  const set = new Set(leaving.peek());
  if (on) set.add(id);
  else set.delete(id);
  leaving.value = set;
}

// remove hides a chat at once and deletes it when nobody has taken that back, or the page goes.
export function remove(c: Chat): void {
  leave(c.id, true);
  const r = route.peek();
  if (r.at === "chat" && r.id === c.id) go("/");
  const forGood = async (keepalive: boolean) => {
    clearTimeout(timer);
    removeEventListener("pagehide", atEnd);
    try {
      await send({ id: makeId(), cmd: "chat.delete", target: c.id }, keepalive);
      chats.drop(c.id);
      save(draftKey(c.id), null);
    } catch (e) {
      failed(e);
    }
    leave(c.id, false);
  };
  const atEnd = () => void forGood(true);
  const timer = setTimeout(() => void forGood(false), undo);
  addEventListener("pagehide", atEnd);
  const back = () => {
    clearTimeout(timer);
    removeEventListener("pagehide", atEnd);
    leave(c.id, false);
    hush();
  };
  tell(`“${titleOf(c)}” is deleted.`, { word: "Undo", do: back }, undo);
}
