// The empty chat: who answers here, how its provider is, and something to begin with.

import { again, botOf, chosen, failed, Folded, gates, Icon, login, Mark, page, say, tell, useRef } from "#app";
import type { Page } from "../lib/wire";
import { gateWhy, hhmmss } from "../lib/words";
import type { IconName } from "../view/icon";

interface Start {
  icon: IconName;
  text: string;
  what: string;
}

const plain: Start[] = [
  { icon: "owed", text: "What can you do for me?", what: "An introduction" },
  { icon: "pencil", text: "Help me write a short note to my team.", what: "Something written" },
  { icon: "search", text: "Explain exponential back-off with a small example in Go.", what: "Something explained" },
];

const demo: Start[] = [
  { icon: "pencil", text: "Count to 20", what: "See an answer stream. Press Stop, reload, open a second tab: all show the same." },
  { icon: "retrying", text: "!fail 503 3 Are you there?", what: "Three requests fail. It is sent again by itself, and the page says why and when." },
  { icon: "parked", text: "!fail 429 45s What time is it?", what: "A rate limit of 45 s. It waits exactly that long. Kill the daemon with kill -9 meanwhile and start it again: the answer still comes." },
];

export function Welcome({ chat }: { chat: string }) {
  const p = page.value;
  const bot = p?.bots.find((b) => b.name === botOf(chat));
  const breakable = p?.demo || bot?.models[0]?.startsWith("demo/");
  return (
    <div class="welcome">
      <Mark />
      <h2>{breakable ? "Break it, and watch the answer arrive" : "What is on your mind?"}</h2>
      <p class="dim">
        {p?.visitor ? (
          <>
            <b>{bot?.name}</b> answers here.
          </>
        ) : bot ? (
          <>
            <b>{bot.name}</b> answers with <b>{bot.models[0]}</b>
            {bot.models.length > 1 && ` and falls back to ${bot.models.slice(1).join(", ")}`}.
          </>
        ) : (
          "Whatever happens to the provider, your message is kept and answered."
        )}
      </p>
      <Provider models={bot?.models ?? []} />
      {p && p.bots.length > 1 && <Choose page={p} chat={chat} />}
      <ul class="starts">
        {(breakable ? demo : plain).map((s) => (
          <li key={s.text}>
            <button type="button" class="start" onClick={() => say(chat, s.text)}>
              <Icon name={s.icon} />
              <span>
                <b>{s.text}</b>
                <span class="dim">{s.what}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {p?.visitor && p.codes && <Folded word="I have a code">{() => <Code />}</Folded>}
    </div>
  );
}

// Code takes that of a visitor whom the bot is to serve like people whom it knows.
function Code() {
  const input = useRef<HTMLInputElement>(null);
  const use = async () => {
    await login(input.current!.value.trim(), "code");
    tell("Welcome. Your messages are kept until they are answered.");
    again();
  };
  return (
    <form
      class="enter-code"
      onSubmit={(e) => {
        e.preventDefault();
        use().catch(failed);
      }}
    >
      <input ref={input} aria-label="Your code" autocomplete="off" required />
      <button type="submit">Use it</button>
    </form>
  );
}

// Provider says if what would answer takes nothing at the moment.
function Provider({ models }: { models: string[] }) {
  const shut = gates.all().filter((g) => models.includes(`${g.provider}/${g.model}`));
  if (!shut.length) return null;
  return (
    <p class="state wait">
      <Icon name="gate" />
      {shut.map((g) => `${g.provider}/${g.model}: ${gateWhy(g).toLowerCase()}${g.until ? ` until ${hhmmss(g.until)}` : ""}`).join("; ")}. Messages are kept meanwhile.
    </p>
  );
}

function Choose({ page, chat }: { page: Page; chat: string }) {
  return (
    <fieldset class="choose">
      <legend class="unseen">Who answers</legend>
      {page.bots.map((b) => (
        <label key={b.name} class="chip">
          <input type="radio" name="bot" checked={botOf(chat) === b.name} onChange={() => (chosen.value = b.name)} />
          {b.name}
        </label>
      ))}
    </fieldset>
  );
}
