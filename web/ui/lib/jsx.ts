// What JSX becomes in the first bundle: put into each file by the bundler.

export { h as $h, Fragment as $f } from "preact";
