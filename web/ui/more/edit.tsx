// One's last message in other words. Before the answer has begun the message itself is changed;
// afterwards the new words are asked anew and the old answer is kept.

import { act, Press, useEffect, useRef } from "#app";
import type { Message } from "../lib/wire";

export function Edit({ message: m, done }: { message: Message; done: () => void }) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const a = area.current!;
    a.style.height = `${Math.min(a.scrollHeight, innerHeight * 0.4)}px`;
    a.focus();
  }, []);
  const save = async () => {
    const text = area.current!.value.trim();
    if (text && text !== m.text) await act("message.edit", m.turn!, { text });
    done();
  };
  const key = (e: KeyboardEvent) => {
    if (e.key !== "Escape" || e.isComposing) return;
    e.preventDefault();
    done();
  };
  return (
    <article class="said editing" data-message={m.id} aria-label="Your message, being edited">
      <textarea ref={area} dir="auto" aria-label="Your message" defaultValue={m.text} onKeyDown={key} />
      <div class="row-acts">
        <button type="button" class="small" onClick={done}>
          Leave it
        </button>
        <Press kind="small primary" act={save}>
          Ask this
        </Press>
      </div>
    </article>
  );
}
