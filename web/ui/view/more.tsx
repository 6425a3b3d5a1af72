// What is in the second bundle, once that is here.

import type { ComponentChildren } from "preact";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { fetchLate } from "../lib/late";
import type * as Bundle from "../more";
import * as shared from "../shared";

const bundle = signal<typeof Bundle | null>(null);
const missing = signal(false);

// fetchMore gets it, once. The page does so by itself as soon as it is at rest, so that it is there when
// the daemon is not.
export async function fetchMore(): Promise<typeof Bundle> {
  (globalThis as Record<symbol, unknown>)[Symbol.for("holdfast")] = shared;
  try {
    return (bundle.value = await fetchLate<typeof Bundle>("more"));
  } catch (e) {
    missing.value = true;
    throw e;
  }
}

// More draws a view of the second bundle, and until that is here what is given for it. With late it comes
// when that is here anyway.
export function More({ view, meanwhile, late }: { view: (m: typeof Bundle) => ComponentChildren; meanwhile?: ComponentChildren; late?: boolean }) {
  const b = bundle.value;
  useEffect(() => {
    if (!b && !late) fetchMore().catch(() => {});
  }, []);
  if (b) return <>{view(b)}</>;
  return <>{meanwhile ?? (missing.value ? <p class="nothing">This part of the page could not be fetched. Reload to try again.</p> : <div class="scroller" aria-busy="true" />)}</>;
}
