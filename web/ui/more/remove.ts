// Deleting a chat, with a way back.

import { chats, draftKey, failed, go, hush, leave, route, send, tell, titleOf } from "#app";
import { makeId } from "../lib/ids";
import { save } from "../lib/keep";
import type { Chat } from "../lib/wire";

const undo = 6000; // ms in which a deletion can be taken back

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
