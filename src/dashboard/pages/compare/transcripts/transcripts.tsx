import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { fixed, thousands } from "../../../../report/text/format.ts";
import { rolloutAddress, samplesAddress } from "../../../address/links.ts";
import type { ComparedExamples, ExampleCell } from "../../../api/answers.ts";
import { useDashboard } from "../../../context.ts";
import { Failure, Notice } from "../../../design/notice.tsx";
import { textToken } from "../../../samples/filter/tokens.ts";
import type { CompareQuery } from "../compare-query.ts";
import { MessagePairs } from "./message-pairs.tsx";
import { RowFacts } from "./row-facts.tsx";
import { type Row, RowsStore } from "./rows-store.ts";

interface TranscriptsProps {
  readonly cells: ComparedExamples["examples"][number];
  readonly query: CompareQuery;
  readonly total: number;
  readonly open: (at: number) => boolean;
  readonly close: () => boolean;
}

/** Both transcripts of an example side by side: what they differ in is marked, what is the same is folded. */
export function Transcripts({ cells, query, total, open, close }: TranscriptsProps) {
  const { api } = useDashboard();
  const store = useMemo(() => new RowsStore(api), [api]);
  useEffect(() => () => store.close(), [store]);
  const head = useRef<HTMLHeadingElement>(null);
  // What was opened is where one reads on; where somebody walks on from it the keys stay with it.
  useEffect(() => {
    head.current?.focus({ preventScroll: true });
    head.current?.scrollIntoView({ block: "start" });
  }, []);
  const [left, right] = [cells[0] ?? null, cells[query.against] ?? null];
  const attempts = Math.max(left?.rows ?? 0, right?.rows ?? 0);
  const [attempt, setAttempt] = useState(0);
  const at = query.at ?? 1;
  return (
    <section class="transcripts" aria-label={`Transcripts of example ${left?.example_id ?? ""}`}>
      <div class="transcripts-head">
        <h3 ref={head} tabIndex={-1}>
          Example {left?.example_id ?? "?"}
        </h3>
        <span class="count">
          {thousands(at)} of {thousands(total)}
        </span>
        <button type="button" title="Previous example (←)" disabled={at <= 1} onClick={() => open(at - 1)}>
          Previous
        </button>
        <button type="button" title="Next example (→)" disabled={at >= total} onClick={() => open(at + 1)}>
          Next
        </button>
        {attempts < 2 ? null : (
          <label class="choice is-inline">
            <span>Attempt</span>
            <select value={String(attempt)} onChange={({ currentTarget: { value } }) => setAttempt(Number(value))}>
              {Array.from({ length: attempts }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its number
                <option key={index} value={String(index)}>
                  {index}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" class="quiet" title="Close (Esc)" onClick={() => close()}>
          Close
        </button>
      </div>
      <Both left={left} right={right} attempt={attempt} query={query} store={store} />
    </section>
  );
}

/** Where rows are missing a rollout's place is not known; the example's name is always right. */
const filterOf = ({ example_id }: Row): string =>
  typeof example_id === "number" || typeof example_id === "string" ? `example = ${textToken(String(example_id))}` : "";

interface BothProps {
  readonly left: ExampleCell | null;
  readonly right: ExampleCell | null;
  readonly attempt: number;
  readonly query: CompareQuery;
  readonly store: RowsStore;
}

function Both({ left, right, attempt, query, store }: BothProps) {
  const { link } = useDashboard();
  const sides = [
    { name: "Baseline", run: query.runs[0] ?? "", cell: left },
    { name: "Candidate", run: query.runs[query.against] ?? "", cell: right },
  ].map((side) => ({ ...side, number: side.cell === null || attempt >= side.cell.rows ? null : side.cell.row + attempt }));
  useEffect(() => {
    for (const { run, number } of sides) if (number !== null) store.want(run, number);
  });
  const rows = sides.map(({ run, number }) => (number === null ? null : store.row(run, number)));
  const loaded = rows.map((row) => (row?.ok === true ? row.value : null));
  const isLoading = sides.some(({ number }, index) => number !== null && rows[index] === null);
  return (
    <>
      <div class="sides">
        {sides.map(({ name, run, cell, number }, index) => {
          const row = rows[index] ?? null;
          return (
            <div key={name} class="side">
              <h4>
                {name} <code>{run}</code>
              </h4>
              {cell === null ? <p class="quiet-text">This run has not the example.</p> : null}
              {cell !== null && number === null ? <p class="quiet-text">It has no such attempt.</p> : null}
              {cell !== null && cell.rows > 1 ? (
                <p>
                  Mean of {cell.rows} attempts: {cell.mean === null ? "none has a score" : fixed(cell.mean, 3)}
                </p>
              ) : null}
              {row?.ok === false ? <Failure problem={row.problem} again={() => store.again(run, number ?? 1)} /> : null}
              {row?.ok === true && row.value === null ? <Notice role="status" tone="warning" title="The run has no such row any more." /> : null}
              {row?.ok === true && row.value !== null ? <RowFacts row={row.value} /> : null}
              {row?.ok === true && row.value !== null ? (
                <p>
                  {cell === null || cell.place === null ? (
                    <a href={link(samplesAddress(run), { filter: filterOf(row.value) })}>In the run's samples</a>
                  ) : (
                    <a href={link(rolloutAddress(run, cell.place, attempt))}>The whole rollout</a>
                  )}
                </p>
              ) : null}
            </div>
          );
        })}
      </div>
      {isLoading ? <p role="status">Loading transcripts…</p> : null}
      {!isLoading && (loaded[0] != null || loaded[1] != null) ? (
        <MessagePairs key={`${sides[0]?.number} ${sides[1]?.number}`} left={loaded[0] ?? null} right={loaded[1] ?? null} />
      ) : null}
    </>
  );
}
