// Icons: 16 px, one stroke, the colour of the text. They stand beside words and say nothing alone.

const paths = {
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9a4.5 4.5 0 0 0 0 9M10.5 10.5l3 3",
  pencil: "M3 13l.7-2.8L10.5 3.4a1.3 1.3 0 0 1 1.9 0l.2.2a1.3 1.3 0 0 1 0 1.9L5.8 12.3z",
  trash: "M3 4.5h10M6.5 4.5v-1.5h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5",
  send: "M8 13V3.5M4 7.3L8 3.3l4 4",
  stop: "M5 5h6v6H5z",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  check: "M3 8.5l3.2 3.2L13 5",
  down: "M8 3v9.5M4 8.8l4 4 4-4",
  chevron: "M6 4l4 4-4 4",
  queued: "M2.5 5h8M2.5 8h8M2.5 11h5M13 9.5v3.5",
  running: "M8 2a6 6 0 1 1-6 6",
  retrying: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.7h-2.7",
  parked: "M4.5 2.5h7M4.5 13.5h7M5.5 2.5v2.2L8 8l2.5-3.3V2.5M5.5 13.5v-2.2L8 8l2.5 3.3v2.2",
  rearming: "M4.5 5.5h6.5a2.5 2.5 0 0 1 0 6H4M6.2 3L3.7 5.5l2.5 2.5",
  owed: "M4.5 2.5h7v11L8 10.7l-3.5 2.8z",
  answered: "M3 8.5l3.2 3.2L13 5",
  failed: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.2v.1",
  refused: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M4 4l8 8",
  cancelled: "M5 5h6v6H5z",
  merged: "M4 3v3.5c0 2 4 2 4 4V13M12 3v3.5c0 2-4 2-4 4",
  gate: "M3.5 7.5h9v6h-9zM5.5 7.5V5.3a2.5 2.5 0 0 1 5 0v2.2",
  bolt: "M9 2L4 9h3.5L7 14l5-7H8.5z",
  bell: "M4 11V7.5a4 4 0 0 1 8 0V11l1 1.2H3zM6.8 14h2.4",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.8V8l2.2 1.5",
  gauge: "M2.5 12a6 6 0 1 1 11 0M8 9.5l2.5-3.5",
  offline: "M2 6.5a9 9 0 0 1 12 0M4.5 9.2a5.5 5.5 0 0 1 7 0M8 12.3v.2M3 13L13 3",
  moon: "M13 9.3A5.3 5.3 0 0 1 6.7 3 5.3 5.3 0 1 0 13 9.3z",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6a2.8 2.8 0 0 0 0 5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.8.8M11.8 11.8l.8.8M3.4 12.6l.8-.8M11.8 4.2l.8-.8",
  half: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 2v12M10 3v10M12 4.8v6.4",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, spin }: { name: IconName; spin?: boolean }) {
  return (
    <svg class={spin ? "icon spin" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M16 5v12M16 9c-3.2 0-4.8-1.2-5.4-3.4M16 13c3.2 0 4.8-1.2 5.4-3.4M16 17c0 5-3 8-8.5 9.5M16 17c0 5 3 8 8.5 9.5M16 17v9.5" />
    </svg>
  );
}
