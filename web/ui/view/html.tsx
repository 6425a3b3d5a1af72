// HTML that the server made: put in once per text, then coloured, and given a copy button per block
// of code.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { colour, language } from "../lib/code";
import { copy } from "../lib/copy";
import { trusted } from "../lib/html";

// leftward are letters and marks of scripts that are written from the right.
const leftward = /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

// Html shows one piece of it. closed: no more comes, so that code may be coloured.
export function Html({ html, closed }: { html: string; closed: boolean }) {
  const ref = useRef<HTMLDivElement>(null);
  const inner = useMemo(() => ({ __html: trusted(html) }), [html]);
  useEffect(() => {
    const root = ref.current!;
    for (const box of root.querySelectorAll<HTMLInputElement>("input[type=checkbox]")) box.ariaLabel = box.checked ? "Done" : "Open";
    order(root);
    if (!closed) return;
    for (const pre of root.querySelectorAll("pre")) dress(pre);
    for (const table of root.querySelectorAll("table")) reachable(table);
    void colour(root);
  }, [html, closed]);
  return <div ref={ref} class={leftward.test(html) ? "block mixed" : "block"} dir="auto" dangerouslySetInnerHTML={inner} />;
}

// order numbers the headings of a message so that none is skipped, below the page's own.
function order(root: Element): void {
  let above = 1;
  for (const h of root.closest(".md")?.querySelectorAll("h1, h2, h3, h4, h5, h6") ?? []) {
    above = Math.min(Math.max(2, Number(h.tagName[1])), above + 1);
    h.ariaLevel = String(above);
  }
}

// dress wraps a block of code with its language and a copy button.
function dress(pre: HTMLPreElement): void {
  if (pre.parentElement?.className === "code") return;
  const box = document.createElement("div");
  box.className = "code";
  const head = document.createElement("div");
  head.className = "code-head";
  const name = document.createElement("span");
  name.textContent = language(pre.firstElementChild) || "text";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet small";
  button.textContent = "Copy code";
  button.onclick = async () => {
    button.textContent = (await copy(pre.textContent ?? "")) ? "Copied" : "Not allowed";
    setTimeout(() => (button.textContent = "Copy code"), 1500);
  };
  head.append(name, button);
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", `Code, ${name.textContent}`);
  pre.replaceWith(box);
  box.append(head, pre);
}

// reachable lets a wide table scroll by keyboard.
function reachable(table: HTMLTableElement): void {
  if (table.parentElement?.className === "wide") return;
  const box = document.createElement("div");
  box.className = "wide";
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Table");
  table.replaceWith(box);
  box.append(table);
}
