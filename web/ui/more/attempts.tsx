// Every request of a turn, one row each.

import { Time } from "#app";
import type { Attempt } from "../lib/wire";
import { attemptOutcome, attemptStatus, hhmmss, span, waitFrom } from "../lib/words";

export function Attempts({ rows }: { rows: readonly Attempt[] }) {
  if (!rows.length) return <p class="dim">No request was made yet.</p>;
  const one = rows.every((a) => a.model === rows[0].model); // then the column says nothing
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Requests of this turn">
      <table class="data">
        <thead>
          <tr>
            <th class="num">#</th>
            <th>At</th>
            {!one && <th>Model</th>}
            <th>Status</th>
            <th>Took</th>
            <th>Then</th>
            <th>Wait</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((a) => (
            <Row key={a.n} a={a} model={!one} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ a, model }: { a: Attempt; model: boolean }) {
  return (
    <tr>
      <td class="num">{a.n}</td>
      <td>
        <Time at={a.at}>{hhmmss(a.at)}</Time>
      </td>
      {model && <td>{a.model}</td>}
      <td>
        {attemptStatus(a)}
        {a.class ? <span class="dim"> {a.class}</span> : null}
      </td>
      <td>{a.ms === null || !a.outcome ? "" : span(a.ms)}</td>
      <td>
        {attemptOutcome(a)}
        {a.rung ? <span class="dim"> {a.rung}</span> : null}
      </td>
      <td>
        {a.wait_ms ? span(a.wait_ms) : ""}
        {a.wait_ms && a.wait_from ? <span class="dim"> {waitFrom(a.wait_from)}</span> : null}
      </td>
    </tr>
  );
}
