import { useRef } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import type { ComparedExamples } from "../../api/answers.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { type Go, type CompareQuery, PAGE_EXAMPLES, relisted } from "./compare-query.ts";
import type { CompareStore } from "./compare-store.ts";
import { ExampleFilters } from "./example-filters.tsx";
import { ExamplePager } from "./example-pager.tsx";
import { ExampleTable } from "./example-table.tsx";
import { Scatter } from "./scatter.tsx";
import { Transcripts } from "./transcripts/transcripts.tsx";

interface ExamplesProps {
  readonly query: CompareQuery;
  readonly store: CompareStore;
  readonly go: Go;
  readonly metrics: readonly string[];
}

/** The examples one by one: what moved most first, both transcripts of one, and all of them as points. */
export function Examples({ query, store, go, metrics }: ExamplesProps) {
  const place = useRef<HTMLElement>(null);
  const listed = store.examplesOf(query);
  const answer = listed?.answer ?? null;
  const problem = store.examplesProblem.value;
  const total = answer?.total ?? 0;
  const opened = query.at === null || listed?.isCurrent !== true ? null : (answer?.examples[query.at - 1 - (query.page - 1) * PAGE_EXAMPLES] ?? null);
  /** `to`: a place in the list, from 1; its page comes with it. */
  const open = (to: number | null): boolean => {
    if (to !== null && (to < 1 || to > total)) return false;
    go({ ...query, at: to, page: to === null ? query.page : Math.ceil(to / PAGE_EXAMPLES) });
    return true;
  };
  const against = (step: number): boolean => {
    const next = query.against + step;
    if (next < 1 || next >= query.runs.length) return false;
    // The same example, where it is not in the list of another order.
    go({ ...query, against: next, page: 1, at: null });
    return true;
  };
  const close = (): boolean => {
    if (query.at === null) return false;
    const row = place.current?.querySelectorAll<HTMLElement>("a.example-link")[query.at - 1 - (query.page - 1) * PAGE_EXAMPLES];
    row?.focus();
    return open(null);
  };
  useShortcuts([
    { keys: ["ArrowRight"], does: "Next example, while transcripts are open", run: () => query.at !== null && open(query.at + 1) },
    { keys: ["ArrowLeft"], does: "Previous example, while transcripts are open", run: () => query.at !== null && open(query.at - 1) },
    { keys: ["l"], does: "Next run", run: () => against(1) },
    { keys: ["h"], does: "Previous run", run: () => against(-1) },
    { keys: ["Escape"], does: "Close the transcripts", run: close },
  ]);
  if (query.unpaired) return null;
  if (listed === null || answer === null)
    return problem === null || store.staleOf(query) !== null ? (
      <p role="status">Loading examples…</p>
    ) : (
      <Failure problem={problem} again={() => store.again()} />
    );
  return (
    <section ref={place} class="examples" aria-label="Examples">
      <h2>Examples</h2>
      <p class="count" role="status">
        {countsText(answer)}
      </p>
      <ExampleFilters query={query} go={go} metrics={metrics} />
      <div class={query.view === "matrix" ? "examples-body" : "examples-body is-pair"}>
        <div class="examples-list">
          {answer.examples.length === 0 ? (
            <Notice role="status" tone="plain" title={total > 0 ? "The list has fewer pages than that." : emptyText(query)}>
              <p>
                <button type="button" onClick={() => go(relisted(query, total > 0 ? {} : { only: "all" }))}>
                  {total > 0 ? "First page" : "Show all examples"}
                </button>
              </p>
            </Notice>
          ) : (
            <ExampleTable listed={listed} query={query} open={open} />
          )}
          <ExamplePager query={query} total={total} go={go} />
        </div>
        <div class="examples-beside">
          {opened === null || query.at === null ? null : (
            <Transcripts key={`${query.at} ${query.against}`} cells={opened} query={query} total={total} open={open} close={close} />
          )}
          <Scatter query={query} store={store} go={go} />
        </div>
      </div>
    </section>
  );
}

function countsText({ worse, better, equal, unscored, missing, metric }: ComparedExamples): string {
  const [less, more] = metric === "reward" ? ["worse", "better"] : ["lower", "higher"];
  const counts = [
    [worse, `↓ ${less}`],
    [better, `↑ ${more}`],
    [equal, "= equal"],
    [unscored, "without a score in one of both"],
    [missing, "not in the candidate"],
  ] as const;
  return counts.flatMap(([count, what], at) => (count === 0 && at > 2 ? [] : [`${thousands(count)} ${what}`])).join(", ");
}

const emptyText = ({ only }: CompareQuery): string =>
  only === "worse" ? "No example got worse." : only === "better" ? "No example got better." : "No example differs.";
