// Ids that the page makes: chats and commands. Not crypto.randomUUID, which plain-http pages lack.

const letters = "0123456789abcdefghijklmnopqrstuvwxyz";

export function makeId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return Array.from(bytes, (b) => letters[b % 36]).join("");
}
