// Files that the page fetches only when it needs them. Their names carry a hash that the server
// puts into the tag of the page's own script.

const tag = document.querySelector<HTMLScriptElement>("script[data-code]");

// build names the build that this page is of.
export const build = tag?.dataset.build ?? "";

const loads = new Map<string, Promise<unknown>>();

// fetchLate gets a file by its data name, once; after a failure it may be tried again.
export function fetchLate<T>(name: "code" | "more"): Promise<T> {
  let load = loads.get(name);
  if (!load) {
    load = import(new URL(tag?.dataset[name] ?? "", location.href).href);
    loads.set(name, load);
    load.catch(() => loads.delete(name));
  }
  return load as Promise<T>;
}
