// #app: what the second bundle takes from the first. Everything with state is here, and the views
// that both have; pure functions each bundle takes for itself.

export { h, Fragment } from "preact";
export { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
export { signal, useSignal } from "@preact/signals";
export { act, get, login, Refusal, send } from "./lib/api";
export { botOf, chosen, draftKey, leave, say, titleOf } from "./lib/chats";
export { now, second } from "./lib/clock";
export { again, phase, pulse, tail } from "./lib/link";
export { go, route } from "./lib/route";
export { failed, hush, tell, title } from "./lib/say";
export { alerts, attempts, below, changes, chats, gates, messages, page, providers, putAttempt, putTurn, schedules, turns } from "./lib/state";
export { Countdown, Folded, Press, State, Time } from "./view/bits";
export { Icon, Mark } from "./view/icon";
export { MenuButton } from "./view/sidebar";
