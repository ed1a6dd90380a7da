import { fixed, thousands } from "../../../report/text/format.ts";
import { probability, sameAsRewardText, TESTS } from "../../../report/statistics/comparison-lines.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { RunComparison } from "../../api/answers.ts";
import { type Go, type CompareQuery, relisted } from "./compare-query.ts";
import { Moved } from "./moved.tsx";

const HEADS = ["Metric", "n", "Baseline", "Candidate", "Difference", "95 % interval", "p", "p (Holm)", "Test"];

interface MetricTableProps {
  readonly comparison: RunComparison;
  readonly query: CompareQuery;
  readonly go: Go;
}

/** Every metric that both runs have; the one that is chosen orders the examples below. */
export function MetricTable({ comparison: { metrics, same_as_reward }, query, go }: MetricTableProps) {
  if (metrics.length === 0) return <p role="status">Nothing was scored in both runs.</p>;
  return (
    <div class="scrolled">
      <table class="metrics cards">
        <caption class="visually-hidden">Differences by metric</caption>
        <thead>
          <tr>
            {HEADS.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {metrics.map(({ metric, n, baseline, candidate, difference, ci95, p, p_holm, test }) => (
            <tr key={metric} class={metric === query.metric ? "is-chosen" : undefined}>
              <th scope="row" data-name="Metric">
                <button
                  type="button"
                  class="picks"
                  aria-pressed={metric === query.metric}
                  title="Order the examples by this metric"
                  onClick={() => go(relisted(query, { metric }))}
                >
                  {singleLine(metric)}
                </button>
              </th>
              <td data-name="n" class="number">
                {thousands(n)}
              </td>
              <td data-name="Baseline" class="number">
                {fixed(baseline, 3)}
              </td>
              <td data-name="Candidate" class="number">
                {fixed(candidate, 3)}
              </td>
              <td data-name="Difference" class="number">
                <Moved difference={difference} metric={metric} />
              </td>
              <td data-name="95 % interval" class="number">
                {ci95 === null ? "–" : intervalText(ci95)}
              </td>
              <td data-name="p" class="number">
                {p === null ? "–" : probability(p)}
              </td>
              <td data-name="p (Holm)" class="number">
                {p_holm === null ? "–" : probability(p_holm)}
              </td>
              <td data-name="Test">{TESTS[test]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {same_as_reward.length === 0 ? null : <p class="count same-as-reward">{sameAsRewardText(same_as_reward)}</p>}
    </div>
  );
}
