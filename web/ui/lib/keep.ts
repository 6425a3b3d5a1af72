// What outlives the tab: drafts, the outbox and the look, in localStorage. A browser that forbids it
// (private windows, quota) costs only that.

const prefix = "holdfast.";

export function load<T>(key: string): T | null {
  try {
    const raw = localStorage.getItem(prefix + key);
    return raw === null ? null : (JSON.parse(raw) as T);
  } catch {
    return null;
  }
}

export function save(key: string, value: unknown): void {
  try {
    if (value === null || value === "") localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // nothing to be done: the value lives as long as the tab
  }
}

// keys lists what is kept under a prefix.
export function keys(under: string): string[] {
  try {
    return Object.keys(localStorage)
      .filter((k) => k.startsWith(prefix + under))
      .map((k) => k.slice(prefix.length));
  } catch {
    return [];
  }
}

// follow calls back when another tab changes a key under a prefix.
export function follow(under: string, changed: () => void): void {
  addEventListener("storage", (e) => {
    if (e.key === null || e.key.startsWith(prefix + under)) changed();
  });
}
