// What JSX becomes in the second bundle.

export { h as $h, Fragment as $f } from "#app";
