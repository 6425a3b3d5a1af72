// Colours for code: the file with the grammars is fetched at the first block that needs it.

import { trusted } from "./html";
import { fetchLate } from "./late";

interface Colours {
  paint(text: string, language: string): string | null;
}

const longest = 50_000; // characters; more than that stays plain

// colour paints the code blocks below root that name a language and are not painted yet.
export async function colour(root: Element): Promise<void> {
  const blocks = [...root.querySelectorAll<HTMLElement>('pre > code[class*="language-"]:not([data-painted])')];
  if (!blocks.length) return;
  const colours = await fetchLate<Colours>("code").catch(() => null);
  for (const block of blocks) {
    if (!colours) return; // plain code is readable too
    block.dataset.painted = "";
    const text = block.textContent ?? "";
    const html = text.length < longest ? colours.paint(text, language(block)) : null;
    if (html !== null) block.innerHTML = trusted(html);
  }
}

// language is what a block of code says it is written in, "" if it does not.
export const language = (code: Element | null) => /language-([\w+#-]+)/.exec(code?.className ?? "")?.[1] ?? "";
