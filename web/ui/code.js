// The code colours: highlight.js with the languages that chats are made of. The page fetches this
// file when it meets the first block of code.

import hljs from "highlight.js";
import bash from "./vendor/highlight/languages/bash.js";
import c from "./vendor/highlight/languages/c.js";
import cpp from "./vendor/highlight/languages/cpp.js";
import css from "./vendor/highlight/languages/css.js";
import diff from "./vendor/highlight/languages/diff.js";
import dockerfile from "./vendor/highlight/languages/dockerfile.js";
import go from "./vendor/highlight/languages/go.js";
import ini from "./vendor/highlight/languages/ini.js";
import java from "./vendor/highlight/languages/java.js";
import javascript from "./vendor/highlight/languages/javascript.js";
import json from "./vendor/highlight/languages/json.js";
import markdown from "./vendor/highlight/languages/markdown.js";
import python from "./vendor/highlight/languages/python.js";
import rust from "./vendor/highlight/languages/rust.js";
import sql from "./vendor/highlight/languages/sql.js";
import typescript from "./vendor/highlight/languages/typescript.js";
import xml from "./vendor/highlight/languages/xml.js";
import yaml from "./vendor/highlight/languages/yaml.js";

const languages = { bash, c, cpp, css, diff, dockerfile, go, ini, java, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar);
hljs.registerAliases(["shell", "console", "zsh"], { languageName: "bash" });

// paint is the code as HTML with classes, null if the language is not among ours.
export function paint(text, language) {
  return hljs.getLanguage(language) ? hljs.highlight(text, { language, ignoreIllegals: true }).value : null;
}
