// The frame of the page: the list on the left, one room on the right, what must be told above it.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { makeId } from "../lib/ids";
import { newest } from "../lib/chats";
import { heard, lost, look, phase, refusal } from "../lib/link";
import { go, route, type Route } from "../lib/route";
import { hush, note, status } from "../lib/say";
import { page } from "../lib/state";
import { hhmmss } from "../lib/words";
import { ChatView } from "./chat";
import { Icon } from "./icon";
import { More } from "./more";
import { Sidebar } from "./sidebar";

const patience = 1500; // ms a lost line stays unmentioned
const stale = 25_000; // ms after which what is shown is called old

export function App() {
  const r = route.value;
  useEffect(() => look(r.at === "chat" ? r.id : ""), [r]);
  const visitor = page.value?.visitor;
  useEffect(() => {
    if ((r.at === "home" || (visitor && r.at !== "chat" && r.at !== "login")) && phase.value === "live") go("/chats/" + (newest()?.id ?? makeId()), true);
  }, [r, phase.value]);
  if (r.at === "login" || phase.value === "login") return <More view={(m) => <m.Login />} />;
  return (
    <>
      {!visitor && (
        <a class="skip" href="#main">
          Skip the list
        </a>
      )}
      {!visitor && <Sidebar />}
      <div class="room">
        <Banner />
        <Room r={visitor && r.at !== "chat" ? { at: "home" } : r} />
      </div>
      <Note />
      <div class="unseen" role="status" aria-live="polite">
        {status.value}
      </div>
    </>
  );
}

function Room({ r }: { r: Route }) {
  switch (r.at) {
    case "chat":
      return <ChatView id={r.id} />;
    case "operator":
    case "turn":
      return <More view={(m) => (r.at === "turn" ? <m.TurnView key={r.id} id={r.id} /> : <m.Operator />)} />;
  }
  return <main class="chat" id="main" aria-busy="true"><h1 class="unseen">Holdfast</h1></main>;
}

// Banner tells of a lost line after a moment, and greys what is shown once it is old.
function Banner() {
  const shown = useSignal<"" | "soon" | "stale">("");
  useEffect(() => {
    shown.value = "";
    if (!lost.value) return;
    const gone = Date.now() - lost.value;
    const a = setTimeout(() => (shown.value = "soon"), Math.max(0, patience - gone));
    const b = setTimeout(() => (shown.value = "stale"), Math.max(0, stale - gone));
    return () => {
      clearTimeout(a);
      clearTimeout(b);
    };
  }, [lost.value]);
  useEffect(() => {
    document.documentElement.classList.toggle("stale", shown.value === "stale");
  }, [shown.value]);
  if (phase.value === "refused") return <header class="banner bad"><Icon name="failed" />{refusal.value}</header>;
  if (!shown.value) return null;
  return (
    <header class="banner">
      <Icon name="offline" />
      {heard.value ? `No connection to the daemon. Reconnecting by itself.${shown.value === "stale" ? ` Everything here is as of ${hhmmss(heard.value)}.` : ""}` : "The daemon cannot be reached yet. Trying again by itself."}
    </header>
  );
}

function Note() {
  const n = note.value;
  return (
    <div class="note-place" role="status">
      {n && (
        <p class="note">
          {n.text}
          {n.act && (
            <button type="button" class="small" onClick={n.act.do}>
              {n.act.word}
            </button>
          )}
          <button type="button" class="quiet icon-only small" aria-label="Dismiss" onClick={hush}>
            <Icon name="close" />
          </button>
        </p>
      )}
    </div>
  );
}
