// Where the page is: the address bar, in a signal.

import { signal } from "@preact/signals";

export type Route =
  | { at: "home" }
  | { at: "chat"; id: string }
  | { at: "operator" }
  | { at: "turn"; id: string }
  | { at: "login"; secret: string };

export const route = signal<Route>(parse());
// drawer is whether the list of chats is open on a narrow screen.
export const drawer = signal(false);

function parse(): Route {
  const [, room = "", id = ""] = location.pathname.split("/");
  if (room === "chats" && id) return { at: "chat", id };
  if (room === "turns" && id) return { at: "turn", id };
  if (room === "operator") return { at: "operator" };
  if (room === "login") return { at: "login", secret: location.hash.slice(1) };
  return { at: "home" };
}

export function go(path: string, replace = false): void {
  if (path !== location.pathname + location.hash) history[replace ? "replaceState" : "pushState"](null, "", path);
  route.value = parse();
  drawer.value = false;
}

// start follows the address bar and takes clicks on links that stay here.
export function start(): void {
  addEventListener("popstate", () => (route.value = parse()));
  addEventListener("hashchange", () => (route.value = parse()));
  addEventListener("click", (e) => {
    const a = (e.target as Element).closest?.("a");
    if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    if (a.origin !== location.origin || a.target || a.hasAttribute("download") || !/^\/($|chats\/|turns\/|operator)/.test(a.pathname)) return;
    if (a.hash) return; // a place on this page
    e.preventDefault();
    go(a.pathname);
  });
}
