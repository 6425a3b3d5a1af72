// Ids that the page makes: chats and commands. Not crypto.randomUUID, which plain-http pages lack.

const letters = "0123456789abcdefghijklmnopqrstuvwxyz";

export function makeId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return Array.from(bytes, (b) => letters[b % 36]).join("");
}

// byId orders ids as the server counts them: shorter ones are older.
export const byId = (a: string, b: string) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
