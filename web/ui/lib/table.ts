// Rows by id, each in a signal of its own: a change of one row renders what shows that row and
// nothing else; `ids` changes only when rows come or go.

import { signal, type Signal } from "@preact/signals";

export class Table<T> {
  private cells = new Map<string, Signal<T | undefined>>();
  ids = signal<readonly string[]>([]);

  private cell(id: string): Signal<T | undefined> {
    let c = this.cells.get(id);
    if (!c) this.cells.set(id, (c = signal(undefined)));
    return c;
  }

  // get reads a row and follows it, also while there is none yet.
  get(id: string | null | undefined): T | undefined {
    return id ? this.cell(id).value : undefined;
  }

  // peek reads a row without following it.
  peek(id: string): T | undefined {
    return this.cells.get(id)?.peek();
  }

  put(id: string, row: T): void {
    const c = this.cell(id);
    if (c.peek() === undefined) this.ids.value = [...this.ids.peek(), id];
    c.value = row;
  }

  drop(id: string): void {
    const c = this.cells.get(id);
    if (!c || c.peek() === undefined) return;
    c.value = undefined;
    this.ids.value = this.ids.peek().filter((x) => x !== id);
  }

  // all reads every row and follows them all.
  all(): T[] {
    return this.ids.value.map((id) => this.cell(id).value).filter((r) => r !== undefined);
  }

  // fill makes rows the whole content, or with keep, that of all rows not kept.
  fill(rows: readonly (readonly [string, T])[], keep?: (row: T) => boolean): void {
    const next = new Map(rows);
    const ids: string[] = [];
    for (const id of this.ids.peek()) {
      const row = this.peek(id)!;
      if (next.has(id)) continue;
      if (keep?.(row)) ids.push(id);
      else this.cell(id).value = undefined;
    }
    for (const [id, row] of next) {
      this.cell(id).value = row;
      ids.push(id);
    }
    this.ids.value = ids;
  }
}
