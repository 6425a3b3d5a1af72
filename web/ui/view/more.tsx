// What is in the second bundle, once that is here.

import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { fetchLate } from "../lib/late";
import type * as Bundle from "../more";
import * as shared from "../shared";

let bundle: typeof Bundle | null = null;

// More draws a view of the second bundle.
export function More({ view }: { view: (m: typeof Bundle) => ComponentChildren }) {
  const state = useSignal("");
  useEffect(() => {
    if (bundle) state.value = "here"; // it came between drawing and now
    (globalThis as Record<symbol, unknown>)[Symbol.for("holdfast")] = shared;
    fetchLate<typeof Bundle>("more").then(
      (b) => {
        bundle = b;
        state.value = "here";
      },
      () => (state.value = "failed"),
    );
  }, []);
  if (bundle) return <>{view(bundle)}</>;
  return state.value === "failed" ? <p class="nothing">This part of the page could not be fetched. Reload to try again.</p> : <div class="scroller" aria-busy="true" />;
}
