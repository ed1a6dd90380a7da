import { errorCodeOf } from "../../../../metrics/row-summary.ts";
import { metricsOfRow } from "../../../../metrics/row-metrics.ts";
import { panelNumber } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import type { Row } from "./rows-store.ts";

/** Metrics that stand beside the reward. */
const MOST_METRICS = 8;

/** What a rollout scored, and what it ended in. */
export function RowFacts({ row }: { readonly row: Row }) {
  const error = errorCodeOf(row.error);
  const metrics = Object.entries(metricsOfRow(row)).filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[0] !== "reward");
  return (
    <dl class="row-facts">
      <div>
        <dt>reward</dt>
        <dd>{error === null && typeof row.reward === "number" ? panelNumber(row.reward) : "none"}</dd>
      </div>
      {metrics.slice(0, MOST_METRICS).map(([name, value]) => (
        <div key={name}>
          <dt>{singleLine(name).slice(0, 80)}</dt>
          <dd>{panelNumber(value)}</dd>
        </div>
      ))}
      {error === null ? null : (
        <div>
          <dt>error</dt>
          <dd class="bad-text">{error}</dd>
        </div>
      )}
      {row.is_truncated === true ? (
        <div>
          <dt>cut off</dt>
          <dd>yes</dd>
        </div>
      ) : null}
    </dl>
  );
}
