import { useEffect, useMemo, useState } from "preact/hooks";
import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { COMPARE } from "../../address/links.ts";
import type { ComparedExamples } from "../../api/answers.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import { Chart } from "../../design/chart/chart.tsx";
import type { PointPlot } from "../../design/chart/plot.ts";
import { Failure } from "../../design/notice.tsx";
import { type Go, addressOf, type CompareQuery, PAGE_EXAMPLES } from "./compare-query.ts";
import type { CompareStore } from "./compare-store.ts";

/** Points that are drawn, and how many come with one answer. */
const MOST_POINTS = 5_000;
const PART = 500;

interface ScatterProps {
  readonly query: CompareQuery;
  readonly store: CompareStore;
  readonly go: Go;
}

/** A point for each example: the baseline to the right, the other run up. Asked for when it is opened. */
export function Scatter(props: ScatterProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="scatter" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Baseline against candidate, by example</summary>
      {isOpen ? <Points key={`${props.query.runs.join()} ${props.query.against} ${props.query.metric}`} {...props} /> : null}
    </details>
  );
}

interface Loaded {
  readonly examples: ComparedExamples["examples"];
  readonly total: number;
}

function Points({ query, store, go }: ScatterProps) {
  const { link } = useDashboard();
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [tries, setTries] = useState(0);
  // Its `key` makes it another one for other runs or another metric.
  const [byId] = useState<CompareQuery>(() => ({ ...query, order: "id", only: "all", page: 1, at: null }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` asks again
  useEffect(() => {
    let isOver = false;
    const load = async (): Promise<void> => {
      const examples: ComparedExamples["examples"] = [];
      for (let offset = 0; offset < MOST_POINTS; offset += PART) {
        const answer = await store.part(byId, offset, PART);
        if (isOver) return;
        if (!answer.ok) return setProblem(answer.problem);
        examples.push(...answer.value.examples);
        if (examples.length >= answer.value.total || offset + PART >= MOST_POINTS) return setLoaded({ examples, total: answer.value.total });
      }
    };
    // Rejects only where the page is left.
    load().catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [byId, store, tries]);
  const address = (at: number): string => link(COMPARE, addressOf({ ...byId, at, page: Math.ceil(at / PAGE_EXAMPLES) }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: addresses change with `byId` alone
  const drawn = useMemo(() => (loaded === null ? null : plotOf(loaded, byId, address)), [loaded, byId]);
  if (problem !== null)
    return (
      <Failure
        problem={problem}
        again={() => {
          setProblem(null);
          setTries(tries + 1);
        }}
      />
    );
  if (drawn === null || loaded === null) return <p role="status">Loading points…</p>;
  const missed = loaded.total - loaded.examples.length;
  return (
    <Chart
      title="By example"
      says={`${says(drawn.counts)}${missed > 0 ? ` The first ${thousands(loaded.examples.length)} of ${thousands(loaded.total)} examples by id.` : ""}`}
      plot={drawn.plot}
      onPick={(row) => go({ ...byId, at: drawn.places[row] ?? 1, page: Math.ceil((drawn.places[row] ?? 1) / PAGE_EXAMPLES) })}
    />
  );
}

const says = ([worse, equal, better]: readonly number[]): string =>
  `${thousands(better ?? 0)} above the line have more in the candidate, ${thousands(worse ?? 0)} below it less, ${thousands(equal ?? 0)} on it the same.`;

interface Drawn {
  readonly plot: PointPlot;
  readonly counts: readonly number[];
  /** Of the rows of the plot's table, their places in the list. */
  readonly places: readonly number[];
}

function plotOf({ examples }: Loaded, { against, metric }: CompareQuery, address: (at: number) => string): Drawn {
  const groups = ["less in the candidate", "the same", "more in the candidate"].map((name) => ({
    name,
    xs: [] as number[],
    ys: [] as number[],
    at: [] as number[],
    ids: [] as number[],
  }));
  for (const [index, cells] of examples.entries()) {
    const [before, after] = [cells[0], cells[against]];
    if (before?.mean == null || after?.mean == null) continue;
    const group = groups[Math.sign(after.mean - before.mean) + 1];
    group?.xs.push(before.mean);
    group?.ys.push(after.mean);
    group?.at.push(index + 1);
    group?.ids.push(before.example_id);
  }
  const name = metric === "reward" ? "reward" : singleLine(metric);
  return {
    counts: groups.map(({ xs }) => xs.length),
    places: groups.flatMap(({ at }) => at),
    plot: {
      kind: "points",
      of: "Example",
      x: { name: `${name} of the baseline`, text: panelNumber },
      y: { name: `${name} of the candidate`, text: panelNumber },
      diagonal: true,
      groups: groups.map(({ name: called, xs, ys, at, ids }) => ({
        name: called,
        xs,
        ys,
        label: (place) => String(ids[place] ?? ""),
        href: (place) => address(at[place] ?? 1),
      })),
    },
  };
}
