// The second bundle: what a chat can do without. The page fetches it at the first need and keeps
// what has state, see shared.ts.

export { Calls } from "./more/calls";
export { DemoKeys } from "./more/demokeys";
export { Edit } from "./more/edit";
export { Login } from "./more/login";
export { Operator } from "./more/operator";
export { Older, OlderChats } from "./more/older";
export { remove } from "./more/remove";
export { Rename } from "./more/rename";
export { Retry } from "./more/retry";
export { TurnView } from "./more/turn";
export { Welcome } from "./more/welcome";
