// The order of a transcript: which messages stand where, and where the bot's bubble of a turn
// stands. A turn that was merged into an older one shows its message; the older one's bubble comes
// after the last message that it answers. Pure functions of plain values.

import type { Item } from "./outbox";
import type { Message, Turn } from "./wire";

export type Line =
  | { is: "day"; key: string; at: string }
  | { is: "said"; key: string; message: Message; last: boolean }
  | { is: "bubble"; key: string; turn: string; posts: Message[]; last: boolean }
  | { is: "going"; key: string; item: Item };

// lines lays out the messages of one chat (any order), the turns known, and what is on its way. open
// are its turns that are not done; one that nothing was said for (asked again by a button) comes last.
export function lines(messages: Message[], turn: (id: string) => Turn | undefined, going: Item[], open: string[] = []): Line[] {
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
  const out: Line[] = [];
  const placed = new Set<string>();
  const lastSaid = sorted.findLast((m) => m.role === "user");
  let day = "";
  const bubble = (r: string) => {
    placed.add(r);
    if (!turn(r) && !posts.has(r)) return; // nothing is known of it yet
    out.push({ is: "bubble", key: "b" + r, turn: r, posts: posts.get(r) ?? [], last: false });
  };
  for (const m of sorted) {
    const r = m.turn ? root(m.turn) : "";
    if (m.role === "bot" && r && (last.has(r) || placed.has(r))) continue;
    const d = new Date(m.at).toDateString();
    if (d !== day) out.push({ is: "day", key: "d" + d, at: m.at });
    day = d;
    if (m.role === "bot" && r) bubble(r);
    else out.push({ is: "said", key: "m" + m.id, message: m, last: m === lastSaid });
    if (r && last.get(r) === m.id) bubble(r);
  }
  if (!going.length) for (const id of open) if (!placed.has(id) && rootOf(id, turn) === id) bubble(id);
  const end = out.findLast((l) => l.is === "bubble");
  if (end) end.last = true;
  for (const item of going) if (!shown(item, sorted)) out.push({ is: "going", key: "o" + item.id, item });
  return out;
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

// byId orders ids as the server counts them: shorter ones are older.
const byId = (a: string, b: string) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
