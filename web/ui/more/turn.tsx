// One turn: what it is, where it stands, every request, and what was journaled and posted.

import { act, attempts, chats, Countdown, Folded, Icon, MenuButton, Press, putAttempt, putTurn, State, Time, title, turns, useEffect, useMemo } from "#app";
import { live, waiting, type Turn, type TurnDetail } from "../lib/wire";
import { because, count, figure, fullTime, hhmmss, wakes, whyDelay } from "../lib/words";
import { Ask } from "./approval";
import { Attempts } from "./attempts";
import { Calls } from "./calls";
import { kept, useFresh } from "./fresh";
import { TryNow } from "./retry";
import { Timeline } from "./timeline";
import { money } from "./usage";

export function TurnView({ id }: { id: string }) {
  const detail = useMemo(() => kept<TurnDetail>(), []);
  useFresh(`/api/v1/turns/${id}`, detail, (t) => {
    putTurn(t);
    for (const a of t.attempts ?? []) putAttempt(id, a);
  });
  useEffect(() => {
    title.value = `Turn ${id} · Holdfast`;
  }, [id]);
  const t = turns.get(id);
  const d = detail.value.value;
  return (
    <main class="operator" id="main">
      <header class="head">
        <MenuButton />
        <h1>Turn {id}</h1>
        <a class="head-model" href="/operator">
          Operator
        </a>
      </header>
      <div class="operator-body">
        {!t && detail.error.value && <p class="state bad"><Icon name="failed" />{detail.error.value}</p>}
        {t && <Standing t={t} />}
        {t && <Facts t={t} used={d?.usage} />}
        {!!t?.calls?.length && (
          <section>
            <h2>Tools</h2>
            <Calls calls={t.calls} done={false} />
          </section>
        )}
        {t && <Requests t={t} />}
        {d && <Journal name="Journal" rows={d.steps} none={d.outcome === "answered" ? "No steps: the answer came in one reply." : live(d) ? "No steps yet." : "No steps."} />}
        {d && <Journal name="Posts" rows={d.posts} none="Nothing was posted yet." />}
      </div>
    </main>
  );
}

function Standing({ t }: { t: Turn }) {
  const waits = waiting(t);
  return (
    <section class="standing">
      <State state={t.state} outcome={t.outcome} />
      {waits && (
        <p>
          <strong>{because(t.reason)}</strong>
          {t.retry_at && (
            <>
              {" "}
              <Countdown at={t.retry_at} /> <span class="dim">until {hhmmss(t.retry_at)}</span>
            </>
          )}
        </p>
      )}
      {waits && <p class="dim">{[whyDelay(t), wakes(t)].filter(Boolean).join(" ")}</p>}
      {waits && t.approval && (
        <div class="retry asks">
          <Ask a={t.approval} />
        </div>
      )}
      {t.error && <p>{t.error}</p>}
      <div class="row-acts">
        {waits && !t.approval && <TryNow turn={t} />}
        {live(t) && (
          <Press act={() => act("turn.cancel", t.id)} icon="close">
            Cancel
          </Press>
        )}
        <a class="button" href={`/chats/${t.chat}`}>
          Open the chat
        </a>
      </div>
    </section>
  );
}

function Facts({ t, used }: { t: Turn; used: TurnDetail["usage"] }) {
  const c = chats.get(t.chat);
  const facts: [string, unknown][] = [
    ["Chat", c?.title || t.chat],
    ["Bot", t.bot],
    ["Surface", t.surface],
    ["Model", t.model],
    ["Asked", <Time at={t.created}>{fullTime(t.created)}</Time>],
    ["First failure", t.first_failed_at && fullTime(t.first_failed_at)],
    ["Work", `${count(t.attempts_n, "attempt")}, ${count(t.requests_n, "request")}, ${count(t.parks_n, "park")}`],
    ["Used", used && used.tokens_in + used.tokens_out > 0 && `${figure(used.tokens_in)} tokens in, ${figure(used.tokens_out)} out${used.cost ? `, ${money(used.cost, used.currency)}` : ""}`],
    ["Re-arm", t.rearm && `${t.rearm.n} of ${t.rearm.of}`],
    ["Lane", t.lane],
    ["Joined", t.merged_into && <a href={`/turns/${t.merged_into}`}>turn {t.merged_into}</a>],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value as string}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

function Requests({ t }: { t: Turn }) {
  const rows = attempts.get(t.id) ?? [];
  return (
    <section>
      <h2>Requests</h2>
      {rows.length > 0 && <Timeline rows={rows} live={live(t)} />}
      <Attempts rows={rows} />
    </section>
  );
}

// Journal lists rows whose fields only the server knows: kind and time in front, the rest on demand.
function Journal({ name, rows, none }: { name: string; rows: Record<string, unknown>[] | null; none: string }) {
  return (
    <section>
      <h2>{name}</h2>
      {!rows?.length && <p class="dim">{none}</p>}
      <div class="journal">
        {rows?.map((r, i) => {
          const at = String(r.at ?? r.created ?? "");
          return (
            <Folded
              key={i}
              word={
                <>
                  <b>{String(r.kind ?? r.tool ?? `Row ${i + 1}`)}</b>
                  {typeof r.state === "string" && <span class="dim">{r.state}</span>}
                  {at && <span class="dim">{hhmmss(at)}</span>}
                </>
              }
            >
              {() => (
                <pre class="raw" tabIndex={0}>
                  {JSON.stringify(r, null, 2)}
                </pre>
              )}
            </Folded>
          );
        })}
      </div>
    </section>
  );
}
