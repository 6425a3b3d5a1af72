// The left side: new chat, search, the list of chats, the way to the operator page, the line's state.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { leaving, newChat, titleOf } from "../lib/chats";
import * as clock from "../lib/clock";
import { phase } from "../lib/link";
import { look, nextLook } from "../lib/look";
import { drawer, route } from "../lib/route";
import { alerts, below, chats, turns } from "../lib/state";
import { waiting, type Chat, type Turn } from "../lib/wire";
import { age, stateWord } from "../lib/words";
import { tone } from "./bits";
import { Icon, Mark } from "./icon";
import { More } from "./more";

export function MenuButton() {
  return (
    <button type="button" class="quiet icon-only menu-button" aria-label="Chats" aria-expanded={drawer.value} onClick={() => (drawer.value = true)}>
      <Icon name="menu" />
    </button>
  );
}

export function Sidebar() {
  const find = useSignal("");
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!drawer.value) return;
    const before = document.activeElement as HTMLElement | null;
    nav.current!.querySelector<HTMLElement>("button")!.focus();
    const key = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.preventDefault();
      drawer.value = false;
      before?.focus();
    };
    addEventListener("keydown", key, true);
    return () => removeEventListener("keydown", key, true);
  }, [drawer.value]);
  return (
    <>
      <nav ref={nav} class={drawer.value ? "side open" : "side"} aria-label="Chats">
        <div class="side-top">
          <a class="brand" href="/">
            <Mark />
            Holdfast
          </a>
          <button type="button" class="quiet icon-only close-button" aria-label="Close the list" onClick={() => (drawer.value = false)}>
            <Icon name="close" />
          </button>
        </div>
        <button type="button" class="new-chat" onClick={newChat}>
          <Icon name="plus" />
          New chat
        </button>
        <div class="search">
          <Icon name="search" />
          <input type="search" placeholder="Search chats" aria-label="Search chats" value={find.value} onInput={(e) => (find.value = e.currentTarget.value)} />
        </div>
        <List find={find.value.trim().toLowerCase()} />
        <Bottom />
      </nav>
      {drawer.value && <div class="shade" onClick={() => (drawer.value = false)} />}
    </>
  );
}

function List({ find }: { find: string }) {
  const shown = chats
    .all()
    .filter((c) => !leaving.value.has(c.id) && (!find || `${titleOf(c)} ${c.bot} ${c.source}`.toLowerCase().includes(find)))
    .sort((a, b) => (a.active < b.active ? 1 : -1));
  const latest = new Map<string, Turn>(); // a chat's own state is as old as its last message
  for (const t of turns.all()) if (!(latest.get(t.chat)?.created! > t.created)) latest.set(t.chat, t);
  const now = clock.now();
  const groups = Map.groupBy(shown, (c) => age(c.active, now));
  return (
    <div class="side-list">
      {[...groups].map(([name, rows]) => (
        <section key={name}>
          <h2>{name}</h2>
          <ul>
            {rows.map((c) => (
              <Row key={c.id} c={c} state={latest.get(c.id)?.state ?? c.state} />
            ))}
          </ul>
        </section>
      ))}
      {below.value && <More view={(m) => <m.OlderChats all={!!find} />} meanwhile={null} />}
      {!shown.length && <p class="dim">{find ? "No chat has that in its title." : "No chats yet."}</p>}
    </div>
  );
}

function Row({ c, state }: { c: Chat; state: Chat["state"] }) {
  const r = route.value;
  const here = r.at === "chat" && r.id === c.id;
  const busy = state && state !== "done" ? state : null;
  return (
    <li>
      <a href={`/chats/${c.id}`} aria-current={here ? "page" : undefined}>
        <span class="row-title">{titleOf(c)}</span>
        {c.source !== "web" && <span class="badge">{c.source}</span>}
        {busy && (
          <span class={`state ${tone(busy)}`} title={stateWord(busy)}>
            <Icon name={busy} spin={busy === "running"} />
            <span class="unseen">{stateWord(busy)}</span>
          </span>
        )}
      </a>
    </li>
  );
}

const lineWords = { connecting: "Connecting", live: "Connected", down: "Reconnecting", login: "Logged out", refused: "Refused" };
const lookWords = { system: "as the system", light: "light", dark: "dark" };

function Bottom() {
  const open = turns.all().filter(waiting);
  const asks = open.filter((t) => t.approval).length;
  const waits = open.length - asks;
  const bad = alerts.all().filter((a) => !a.acked).length;
  return (
    <div class="side-bottom">
      <a href="/operator" aria-current={route.value.at === "operator" ? "page" : undefined}>
        <Icon name="gauge" />
        <span class="row-title">Operator</span>
        {bad > 0 && <span class="badge bad">{bad} {bad === 1 ? "alert" : "alerts"}</span>}
        {asks > 0 && <span class="badge wait">{asks} to approve</span>}
        {waits > 0 && <span class="badge wait">{waits} waiting</span>}
      </a>
      <div class="side-line">
        <span class={phase.value === "live" ? "state good" : "state wait"}>
          <Icon name={phase.value === "live" ? "check" : "offline"} />
          {lineWords[phase.value]}
        </span>
        <button type="button" class="quiet icon-only" onClick={nextLook} aria-label={`Look: ${lookWords[look.value]}`} title={`Look: ${lookWords[look.value]}`}>
          <Icon name={look.value === "system" ? "half" : look.value === "dark" ? "moon" : "sun"} />
        </button>
      </div>
    </div>
  );
}
