// Light, dark, or as the system has it.

import { effect, signal } from "@preact/signals";
import { load, save } from "./keep";

export type Look = "system" | "light" | "dark";

export const look = signal<Look>(load<Look>("look") ?? "system");

effect(() => {
  document.documentElement.dataset.look = look.value;
  save("look", look.value === "system" ? null : look.value);
});

export const nextLook = () => (look.value = look.value === "system" ? "dark" : look.value === "dark" ? "light" : "system");
