// The page: a chat and an operator's view of one Holdfast daemon. It shows what the daemon says and
// sends commands to it; what is here and what it means is decided there.

import { render } from "preact";
import "./lib/look";
import * as link from "./lib/link";
import * as outbox from "./lib/outbox";
import { route, start } from "./lib/route";
import * as say from "./lib/say";
import { App } from "./view/app";
import { fetchMore } from "./view/more";

start();
outbox.start();
say.start(() => (route.value.at === "chat" ? route.value.id : ""));
link.start(route.peek().at !== "login");
// apart from what was run so far, so that a slow machine can do something in between
setTimeout(() => render(<App />, document.getElementById("app")!));
setTimeout(() => fetchMore().catch(() => {}), 1000);
