// What was used: requests, tokens and, where prices are known, money, by day, bot and model.

import { useMemo } from "#app";
import type { Used } from "../lib/wire";
import { figure } from "../lib/words";
import { kept, useFresh } from "./fresh";

interface Usages {
  days: Used[] | null;
  currency: string;
}

const days = 30;

export function Usage() {
  const list = useMemo(() => kept<Usages>(), []);
  useFresh(`/api/v1/usage?days=${days}`, list);
  const u = list.value.value;
  const rows = u?.days ?? [];
  const priced = rows.some((r) => r.cost !== null);
  const head = ["Day", "Bot", "Model", "Requests", "Tokens in", "Tokens out", ...(priced ? ["Cost"] : [])];
  return (
    <section id="usage">
      <h2>Used in the last {days} days</h2>
      {list.error.value && <p class="dim">{list.error.value}</p>}
      {u && !rows.length && <p class="nothing dim">Nothing yet.</p>}
      {rows.length > 0 && (
        <div class="wide usage" tabIndex={0} role="region" aria-label="Usage by day, bot and model">
          <table class="data">
            <thead>
              <tr>
                {head.map((h, i) => (
                  <th key={h} scope="col" class={i > 2 ? "num" : ""}>
                    {h}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => (
                <tr key={`${r.day}/${r.bot}/${r.model}`}>
                  <td>{r.day}</td>
                  <td>{r.bot}</td>
                  <td>{r.model}</td>
                  <Figures r={r} priced={priced} currency={u!.currency} />
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row" colSpan={3}>
                  All
                </th>
                <Figures r={sum(rows)} priced={priced} currency={u!.currency} />
              </tr>
            </tfoot>
          </table>
        </div>
      )}
    </section>
  );
}

type Sum = Pick<Used, "requests" | "tokens_in" | "tokens_out" | "cost">;

function Figures({ r, priced, currency }: { r: Sum; priced: boolean; currency: string }) {
  return (
    <>
      <td class="num">{figure(r.requests)}</td>
      <td class="num">{figure(r.tokens_in)}</td>
      <td class="num">{figure(r.tokens_out)}</td>
      {priced && <td class="num">{money(r.cost, currency)}</td>}
    </>
  );
}

// sum adds rows up; a model without a price adds nothing to the cost.
const sum = (rows: readonly Used[]) =>
  rows.reduce<Sum>(
    (a, r) => ({
      requests: a.requests + r.requests,
      tokens_in: a.tokens_in + r.tokens_in,
      tokens_out: a.tokens_out + r.tokens_out,
      cost: r.cost === null ? a.cost : (a.cost ?? 0) + r.cost,
    }),
    { requests: 0, tokens_in: 0, tokens_out: 0, cost: null },
  );

export function money(n: number | null, currency: string): string {
  if (n === null) return "not priced";
  const [whole, part] = (n && n < 0.1 ? n.toFixed(4).replace(/0{1,2}$/, "") : n.toFixed(2)).split(".");
  const text = `${figure(+whole)}.${part}`;
  return currency ? `${text} ${currency}` : text;
}
