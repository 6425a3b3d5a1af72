// The order of a transcript: which messages stand where, and where the bot's bubble of a turn
// stands. A turn that was merged into an older one shows its message; the older one's bubble comes
// after the last message that it answers. Pure functions of plain values.

import { byId } from "./ids";
import type { Item } from "./outbox";
import { versions, type Choice } from "./versions";
import type { Message, Turn } from "./wire";

export type Line =
  | { is: "day"; key: string; at: string }
  | { is: "said"; key: string; message: Message; last: boolean }
  | { is: "bubble"; key: string; turn: string; posts: Message[]; last: boolean; choice?: Choice }
  | { is: "going"; key: string; item: Item };

// Layout is what lines are made of.
export interface Layout {
  messages: Message[]; // of one chat, in any order
  turn: (id: string) => Turn | undefined;
  going: Item[]; // on their way
  open: string[]; // turns that are not done; one that nothing was said for (asked again by a button) comes last
  chosen: ReadonlyMap<string, Choice>; // versions that are not the newest
}

// lines lays out a chat.
export function lines({ messages, turn, going, open, chosen }: Layout): Line[] {
  const sorted = [...messages].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : byId(a.id, b.id)));
  const root = (id: string) => rootOf(id, turn);
  const last = new Map<string, string>(); // turn → its last message from a person
  const posts = new Map<string, Message[]>();
  for (const m of sorted) {
    if (!m.turn) continue;
    const r = root(m.turn);
    if (m.role === "user") last.set(r, m.id);
    else posts.set(r, [...(posts.get(r) ?? []), m]);
  }
  const late = going.length ? [] : open.filter((id) => root(id) === id && !last.has(id) && !posts.has(id));
  const v = versions([...new Set([...last.keys(), ...posts.keys(), ...late])], turn, (id) => last.has(id), chosen);
  const out: Line[] = [];
  const placed = new Set<string>();
  let day = "";
  const dated = (at: string) => {
    const d = new Date(at).toDateString();
    if (d !== day) out.push({ is: "day", key: "d" + d, at });
    day = d;
  };
  const bubble = (r: string, at: string) => {
    placed.add(r);
    if (v.hidden.has(r) || (!turn(r) && !posts.has(r))) return; // nothing is known of it yet
    if (at) dated(at);
    const choice = v.choices.get(r);
    out.push({ is: "bubble", key: "b" + (choice?.key ?? r), turn: r, posts: posts.get(r) ?? [], last: false, choice });
  };
  for (const m of sorted) {
    const r = m.turn ? root(m.turn) : "";
    if (m.role === "bot" && r) {
      if (!last.has(r) && !placed.has(r)) bubble(r, m.at);
      continue;
    }
    if (!v.hidden.has(r) || v.asks.has(r)) {
      dated(m.at);
      out.push({ is: "said", key: "m" + m.id, message: m, last: false });
    }
    if (r && last.get(r) === m.id) bubble(r, "");
  }
  for (const id of late) bubble(id, "");
  markLast(out, v.past, root);
  for (const item of going) if (!shown(item, sorted)) out.push({ is: "going", key: "o" + item.id, item });
  return out;
}

// markLast marks the last question and the last answer, unless they are of an old version.
function markLast(out: Line[], past: ReadonlySet<string>, root: (id: string) => string): void {
  const said = out.findLast((l) => l.is === "said" && l.message.role === "user");
  const answer = out.findLast((l) => l.is === "bubble");
  if (answer?.is !== "bubble" || past.has(answer.turn)) return;
  answer.last = true;
  if (said?.is === "said" && (!said.message.turn || !past.has(root(said.message.turn)))) said.last = true;
}

function rootOf(id: string, turn: (id: string) => Turn | undefined): string {
  for (let hops = 0; hops < 100; hops++) {
    const into = turn(id)?.merged_into;
    if (!into) break;
    id = into;
  }
  return id;
}

// shown tells whether the server's copy of a message is here already. While the reply to the POST
// is still on its way only the text can tell.
function shown(i: Item, sorted: Message[]): boolean {
  return sorted.some((m) => m.role === "user" && (i.turn ? m.turn === i.turn : i.state === "sending" && m.text === i.text && Date.parse(m.at) > i.at - 5000));
}
