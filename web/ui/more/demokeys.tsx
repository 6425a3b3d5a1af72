// The failures one can cause in demo mode.

import { say, tell } from "#app";

const keysOfDemo = [
  { word: "Three errors", text: "!fail 503 3 Are you there?", what: "Three requests answer 503. Watch it being sent again by itself." },
  { word: "Busy for 45 s", text: "!fail 429 45s What time is it?", what: "The provider asks for 45 s. Reload, or kill -9 the daemon and start it again: the answer still comes." },
  { word: "Cut off", text: "!fail cut Count to 20", what: "The answer breaks off in the middle. Watch it being made again." },
  { word: "Heal", text: "!heal", what: "Everything works again." },
];

export function DemoKeys({ chat }: { chat: string }) {
  return (
    <div class="demo-keys" role="group" aria-label="Break the demo provider">
      <span class="dim">Break it:</span>
      {keysOfDemo.map((k) => (
        <button key={k.text} type="button" class="chip" title={k.what} onClick={() => (say(chat, k.text), tell(k.what))}>
          {k.word}
        </button>
      ))}
    </div>
  );
}
