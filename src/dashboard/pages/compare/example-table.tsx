import { useRef } from "preact/hooks";
import { panelNumber } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { COMPARE } from "../../address/links.ts";
import type { ComparedExamples, ExampleCell } from "../../api/answers.ts";
import { useDashboard } from "../../context.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { addressOf, type CompareQuery, PAGE_EXAMPLES } from "./compare-query.ts";
import type { CompareStore } from "./compare-store.ts";
import { Moved, movedWord } from "./moved.tsx";

interface ExampleTableProps {
  readonly listed: ReturnType<CompareStore["examplesOf"]> & object;
  readonly query: CompareQuery;
  readonly open: (at: number | null) => boolean;
}

type Cells = ComparedExamples["examples"][number];

/** A row for each example: of two runs with their difference, of more as a matrix. The focus is where the keys are: on the link of a row. */
export function ExampleTable({ listed: { answer, page, isCurrent }, query, open }: ExampleTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { link } = useDashboard();
  const first = (page - 1) * PAGE_EXAMPLES + 1;
  const links = (): readonly HTMLElement[] => [...(body.current?.querySelectorAll<HTMLElement>("a.example-link") ?? [])];
  const focused = (): number => links().findIndex((each) => each.closest("tr")?.contains(document.activeElement) ?? false);
  const here = (): number => {
    const at = focused();
    return at >= 0 || query.at === null ? at : query.at - first;
  };
  const move = (place: number): boolean => {
    const all = links();
    const row = all[Math.max(0, Math.min(all.length - 1, place))];
    row?.focus();
    row?.scrollIntoView({ block: "nearest" });
    return row !== undefined;
  };
  /** The next example that got worse, or the one before. While transcripts are open it is opened. */
  const regression = (step: 1 | -1): boolean => {
    for (let place = here() + step; place >= 0 && place < answer.examples.length; place += step) {
      const cells = answer.examples[place];
      if (cells !== undefined && (differenceOf(cells, query.against) ?? 0) < 0) return query.at === null ? move(place) : open(first + place);
    }
    return false;
  };
  useShortcuts([
    { keys: ["j", "ArrowDown"], does: "Next example of the list", run: () => move(here() + 1) },
    { keys: ["k", "ArrowUp"], does: "Previous example of the list", run: () => move(Math.max(0, here() - 1)) },
    { keys: ["g g", "Home"], does: "First example of the page", run: () => move(0) },
    { keys: ["G", "End"], does: "Last example of the page", run: () => move(answer.examples.length - 1) },
    { keys: ["n"], does: "Next regression", run: () => regression(1) },
    { keys: ["p"], does: "Previous regression", run: () => regression(-1) },
    // On a row its link is followed: this names the key.
    {
      keys: ["Enter"],
      does: "Both transcripts of the example",
      run: () => focused() >= 0 && document.activeElement?.tagName !== "A" && open(first + focused()),
    },
  ]);
  const isMatrix = query.view === "matrix" && query.runs.length > 2;
  const shown = isMatrix ? query.runs.map((_, place) => place) : [0, query.against];
  return (
    <div class="scrolled">
      <table class={isMatrix ? "example-rows is-matrix" : "example-rows"} aria-busy={!isCurrent}>
        <caption class="visually-hidden">Examples, {query.metric === "reward" ? "rewards" : singleLine(query.metric)} by run</caption>
        <thead>
          <tr>
            <th scope="col">Example</th>
            {shown.map((place) => (
              <th key={place} scope="col" class={isMatrix && place === query.against ? "is-chosen" : undefined}>
                {place === 0 ? "Baseline" : isMatrix ? <code>{query.runs[place]}</code> : "Candidate"}
              </th>
            ))}
            {isMatrix ? null : <th scope="col">Difference</th>}
          </tr>
        </thead>
        <tbody ref={body}>
          {answer.examples.map((cells, index) => {
            const at = first + index;
            const difference = differenceOf(cells, query.against);
            return (
              <tr key={at} class={query.at === at ? "is-chosen" : undefined}>
                <th scope="row">
                  <a
                    class="example-link"
                    href={link(COMPARE, addressOf({ ...query, at }))}
                    title="Both transcripts (Enter)"
                    aria-current={query.at === at ? "true" : undefined}
                    onClick={(event) => {
                      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                      event.preventDefault();
                      open(at);
                    }}
                  >
                    {cells[0]?.example_id ?? "?"}
                  </a>
                </th>
                {shown.map((place) => (
                  <td key={place} class={isMatrix && place === query.against ? "number is-chosen" : "number"}>
                    <Mean cell={cells[place] ?? null} />
                    {isMatrix && place > 0 ? <Sign difference={differenceOf(cells, place)} metric={query.metric} /> : null}
                  </td>
                ))}
                {isMatrix ? null : <td class="number">{difference === null ? "–" : <Moved difference={difference} metric={query.metric} />}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Null where one of the runs has no score of it. */
export function differenceOf(cells: Cells, place: number): number | null {
  const [before, after] = [cells[0]?.mean ?? null, cells[place]?.mean ?? null];
  return before === null || after === null ? null : after - before;
}

const Mean = ({ cell }: { readonly cell: ExampleCell | null }) => (
  <>{cell === null ? <span class="quiet-text">not there</span> : cell.mean === null ? <span class="bad-text">error</span> : panelNumber(cell.mean)}</>
);

/** Which way an example of the matrix moved. */
function Sign({ difference, metric }: { readonly difference: number | null; readonly metric: string }) {
  if (difference === null || difference === 0) return null;
  const { sign, word, tone } = movedWord(difference, metric);
  return (
    <span class={`moved ${tone}`} title={word}>
      {" "}
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{word}</span>
    </span>
  );
}
