// #app in the second bundle: what the first has left for it, so that there is one state.

module.exports = globalThis[Symbol.for("holdfast")];
