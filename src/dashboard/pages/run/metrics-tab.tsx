import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { DistributionChart } from "./distribution-chart.tsx";
import { REWARD, type RunQuery } from "./run-query.ts";

interface MetricsTabProps {
  readonly run: Evaluation;
  readonly query: RunQuery;
  readonly go: (next: RunQuery) => void;
}

/** Every metric with its mean and interval; the distribution of the one that is picked. */
export function MetricsTab({ run, query, go }: MetricsTabProps) {
  const { metrics, edgewise, metadata } = run;
  const { metric_estimates: estimates = {}, reward, reward_ci95, n_clusters, settled, error_bounds: bounds = null } = edgewise;
  // Rows of errors say 0, which is no score: their mean is none where there is nothing else.
  const isScored = bounds?.answered !== null;
  const names = Object.keys(metrics.metrics ?? {});
  const weights = metadata.reward_weights ?? {};
  const shown = query.metric === REWARD || names.includes(query.metric) ? query.metric : REWARD;
  const clusters = edgewise.cluster_by === undefined ? "Examples" : `Values of ${singleLine(edgewise.cluster_by)}`;
  const row = (name: string, label: string, mean: number | null, interval: readonly [number, number] | null, n: number | undefined) => (
    <tr key={name} class={name === shown ? "is-chosen" : undefined}>
      <th scope="row" data-name="Metric">
        <button type="button" class="picks" data-item aria-pressed={name === shown} onClick={() => go({ ...query, metric: name })}>
          {label}
        </button>
      </th>
      <td class="number" data-name="Mean">
        {mean === null || !isScored ? "–" : panelNumber(mean)}
      </td>
      <td class="number" data-name="95 % interval">
        {interval === null || !isScored ? (settled ? "none" : "when the run is over") : intervalText(interval)}
      </td>
      <td class="number" data-name={clusters}>
        {n === undefined ? "" : thousands(n)}
      </td>
      <td class="number" data-name="Weight">
        {weights[name] === undefined ? "" : panelNumber(weights[name])}
      </td>
    </tr>
  );
  return (
    <div class="run-columns">
      <div class="scrolled">
        <table class="metrics-table cards">
          <caption class="visually-hidden">Metrics</caption>
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <th scope="col">Mean</th>
              <th scope="col">95 % interval</th>
              <th scope="col">{clusters}</th>
              <th scope="col">Weight</th>
            </tr>
          </thead>
          <tbody>
            {row(REWARD, "reward", reward, reward_ci95, n_clusters)}
            {names.map((name) => row(name, singleLine(name), metrics.metrics?.[name] ?? null, estimates[name]?.ci95 ?? null, estimates[name]?.n))}
          </tbody>
        </table>
        {bounds === null || bounds.unresolved === 0 ? null : (
          <p class="count">
            {isScored
              ? "These are means of what the rows say, where an error is a 0; what those rollouts might have scored is the range above."
              : "No rollout was scored: all of them ended in errors."}
          </p>
        )}
      </div>
      <DistributionChart key={shown} run={run} metric={shown} />
    </div>
  );
}
