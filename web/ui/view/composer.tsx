// Where a message is written: Enter sends, Shift+Enter makes a line, Escape stops the answer. The
// draft is kept per chat.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { act } from "../lib/api";
import { botOf, draftKey, liveTurn, say } from "../lib/chats";
import { load, save } from "../lib/keep";
import { back } from "../lib/outbox";
import { failed } from "../lib/say";
import { page } from "../lib/state";
import { Press } from "./bits";
import { Icon } from "./icon";
import { More } from "./more";

const tallest = 0.4; // of the window
const grows = CSS.supports("field-sizing", "content"); // by itself: see chat.css

export function Composer({ chat }: { chat: string }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const text = useSignal("");
  useLayoutEffect(() => {
    text.value = load<string>(draftKey(chat)) ?? "";
    if (matchMedia("(hover: hover)").matches) area.current!.focus();
  }, [chat]);
  useLayoutEffect(() => {
    if (!grows) grow(area.current!);
  }, [text.value]);
  useEffect(() => shortcuts(area.current!, chat), [chat]);
  const write = (s: string) => {
    text.value = s;
    save(draftKey(chat), s);
  };
  const refused = back.value?.chat === chat ? back.value : null;
  useLayoutEffect(() => {
    if (refused) write([refused.text, text.peek()].filter(Boolean).join("\n\n"));
  }, [refused]);
  const send = () => {
    if (!text.peek().trim()) return;
    back.value = null;
    say(chat, text.peek().trim());
    write("");
    area.current!.focus();
  };
  const key = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || e.shiftKey || e.altKey || e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    send();
  };
  const t = liveTurn(chat);
  return (
    <form
      class="composer"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {refused && (
        <p class="refused" role="alert">
          {refused.why}
        </p>
      )}
      <div class="field">
        <label class="unseen" for="composer">
          Message to {botOf(chat)}
        </label>
        <textarea id="composer" ref={area} rows={1} dir="auto" value={text.value} placeholder={`Message ${botOf(chat)}`} enterkeyhint="send" autocomplete="off" onInput={(e) => write(e.currentTarget.value)} onKeyDown={key} />
        {t && (
          <Press kind="round stop" act={() => act("turn.stop", t.id)} label="Stop the answer (Esc)" icon="stop" />
        )}
        <button type="submit" class="round primary" disabled={!text.value.trim()} aria-label="Send" title="Send (Enter)">
          <Icon name="send" />
        </button>
      </div>
      {breakable(chat) && <More late view={(m) => <m.DemoKeys chat={chat} />} meanwhile={<div class="demo-keys" />} />}
    </form>
  );
}

function grow(a: HTMLTextAreaElement): void {
  a.style.height = "auto";
  a.style.height = `${Math.min(a.scrollHeight, innerHeight * tallest)}px`;
}

// shortcuts are the keys that work outside the field: / comes here, Escape stops.
function shortcuts(area: HTMLTextAreaElement, chat: string): () => void {
  const key = (e: KeyboardEvent) => {
    if (e.defaultPrevented || e.isComposing || e.metaKey || e.ctrlKey || e.altKey) return;
    const on = e.target as HTMLElement;
    const typing = on.matches("input, textarea, select");
    if (e.key === "/" && !typing) {
      e.preventDefault();
      area.focus();
    }
    if (e.key === "Escape" && (!typing || on === area)) {
      const t = liveTurn(chat);
      if (t) act("turn.stop", t.id).catch(failed);
    }
  };
  addEventListener("keydown", key);
  return () => removeEventListener("keydown", key);
}

// breakable is whether the provider of a chat is one that fails when told to.
const breakable = (chat: string) => page.value?.demo || page.value?.bots.find((b) => b.name === botOf(chat))?.models[0]?.startsWith("demo/");
