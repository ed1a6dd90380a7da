import { panelNumber } from "../../../report/text/format.ts";
import { rescoredText } from "../../../report/rescored-text.ts";
import { corpusText } from "../../../report/statistics/corpus-lines.ts";
import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { erroredRollouts } from "../../../metrics/totals.ts";
import type { Evaluation } from "../../api/run-answers.ts";
import { costLines } from "./cost-lines.ts";
import { DistributionChart } from "./distribution-chart.tsx";
import { Facts } from "../../design/list/facts.tsx";
import type { Said } from "./fields.tsx";
import { RewardCourse } from "./course/reward-course.tsx";

/** What came of a run: how its rewards spread, how it came to them, and what it used. */
export function SummaryTab({ run }: { readonly run: Evaluation }) {
  const { edgewise: state } = run;
  const rescored = rescoredText(state.rescored_from, run.evaluation_id, state.total_units, null);
  const fields: readonly (Said | null)[] = [
    ...costLines(state),
    state.corpus === undefined ? null : ["Perplexity", corpusText(state.corpus)],
    rescored === null ? null : ["Scored again", rescored],
    ...pushedFields(run),
  ];
  return (
    <div class="run-columns">
      <div>
        <DistributionChart run={run} metric="reward" />
        <PassTable run={run} />
      </div>
      <div>
        <RewardCourse run={run} />
        <h2>Used</h2>
        <Facts facts={fields.filter((each) => each !== null)} />
      </div>
    </div>
  );
}

/** The share of examples that one of k attempts solves, and that all of k solve. */
function PassTable({ run: { edgewise, metadata } }: { readonly run: Evaluation }) {
  const { pass_at_k, pass_at_k_ci95 = {}, pass_all_k = {}, pass_all_k_ci95 = {}, settled } = edgewise;
  const ks = Object.keys(pass_at_k);
  // The files say 0 of it, as the Python library does.
  if (settled && edgewise.done_rollouts > 0 && erroredRollouts(edgewise) === edgewise.done_rollouts)
    return <p class="count">pass@k: none, as no rollout was scored.</p>;
  if (ks.length === 0) return <p class="count">{settled ? "pass@k: not known of this run." : "pass@k: when the run is over."}</p>;
  const cell = (rate: number | undefined, interval: readonly [number, number] | null | undefined) => (
    <td class="number">
      {rate === undefined ? "–" : panelNumber(rate)}
      <small>{rate === undefined || !interval ? "" : intervalText(interval)}</small>
    </td>
  );
  return (
    <table class="pass-table">
      <caption>pass@k, where a reward of {panelNumber(metadata.pass_threshold)} and more passes; 95 % intervals</caption>
      <thead>
        <tr>
          <th scope="col">k</th>
          <th scope="col">pass@k: one of k</th>
          <th scope="col">pass^k: all of k</th>
        </tr>
      </thead>
      <tbody>
        {ks.map((k) => (
          <tr key={k}>
            <th scope="row">{singleLine(k)}</th>
            {cell(pass_at_k[k], pass_at_k_ci95[k])}
            {cell(pass_all_k[k], pass_all_k_ci95[k])}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Of a pushed run: how far it is read, and what its own averages say otherwise. */
function pushedFields({ edgewise: { pushed } }: Evaluation): readonly Said[] {
  if (pushed === undefined) return [];
  const { samples, examples, batches, unread_batches, closing, differences } = pushed;
  const unread = unread_batches === 0 ? "" : `, ${unread_batches} not read yet`;
  const differs = differences.map(
    ({ name, pushed: said, computed }) => `${singleLine(name)} ${panelNumber(said)}, from its rows ${computed === null ? "not known" : panelNumber(computed)}`,
  );
  return [
    // Of the rows of a folder nothing was pushed.
    ...(batches === 0 ? [] : [["Pushed", `${samples} samples of ${examples} examples in ${batches} batches${unread}`] as const]),
    ...(closing === null ? [] : [["Ends", `as ${closing}, once its rows are in their order`] as const]),
    ...(differs.length === 0 ? [] : [["Said otherwise", differs.join("; ")] as const]),
  ];
}
