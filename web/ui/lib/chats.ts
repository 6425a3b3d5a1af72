// What a person does with chats: send, choose a bot for a new one, find what is open.

import { signal } from "@preact/signals";
import { makeId } from "./ids";
import * as outbox from "./outbox";
import { go } from "./route";
import { chats, page, turns } from "./state";
import { live, type Chat, type Turn } from "./wire";

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

// leave hides a chat, or shows it again.
export function leave(id: string, on: boolean): void {
  const set = new Set(leaving.peek());
  if (on) set.add(id);
  else set.delete(id);
  leaving.value = set;
}
