import { useRef } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { type Go, type CompareQuery, KINDS, ORDERS, relisted, VIEWS } from "./compare-query.ts";

const KIND_NAMES: Readonly<Record<CompareQuery["only"], string>> = { worse: "Worse only", better: "Better only", different: "Different only", all: "All" };
const ORDER_NAMES: Readonly<Record<CompareQuery["order"], string>> = { worst: "Regressions first", best: "Improvements first", id: "By id" };
const VIEW_NAMES: Readonly<Record<CompareQuery["view"], string>> = { pair: "Two runs", matrix: "All runs" };

interface ExampleFiltersProps {
  readonly query: CompareQuery;
  readonly go: Go;
  readonly metrics: readonly string[];
}

/** Which examples are listed, by what, and in which order. */
export function ExampleFilters({ query, go, metrics }: ExampleFiltersProps) {
  const first = useRef<HTMLSelectElement>(null);
  const focus = (): boolean => {
    first.current?.focus();
    return first.current !== null;
  };
  useShortcuts([{ keys: ["/"], does: "Filter the examples", run: focus }]);
  return (
    <div class="filters">
      <label class="choice">
        <span>Show</span>
        <select
          ref={first}
          value={query.only}
          title="Filter (/)"
          onChange={({ currentTarget: { value } }) => go(relisted(query, { only: KINDS.find((each) => each === value) ?? "all" }))}
        >
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {KIND_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      <label class="choice">
        <span>Order</span>
        <select
          value={query.order}
          onChange={({ currentTarget: { value } }) => go(relisted(query, { order: ORDERS.find((each) => each === value) ?? "worst" }))}
        >
          {ORDERS.map((each) => (
            <option key={each} value={each}>
              {ORDER_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      {metrics.length < 2 ? null : (
        <label class="choice">
          <span>Metric</span>
          <select value={query.metric} onChange={({ currentTarget: { value } }) => go(relisted(query, { metric: value }))}>
            {metrics.map((each) => (
              <option key={each} value={each}>
                {singleLine(each)}
              </option>
            ))}
          </select>
        </label>
      )}
      {query.runs.length < 3 ? null : (
        <label class="choice">
          <span>Columns</span>
          <select value={query.view} onChange={({ currentTarget: { value } }) => go({ ...query, view: VIEWS.find((each) => each === value) ?? "pair" })}>
            {VIEWS.map((each) => (
              <option key={each} value={each}>
                {VIEW_NAMES[each]}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
