import { useMemo } from "preact/hooks";
import { panelNumber, thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { Distribution, Evaluation } from "../../api/run-answers.ts";
import { Chart } from "../../design/chart/chart.tsx";
import type { BarPlot } from "../../design/chart/plot.ts";
import { usePolled } from "../../live/use-polled.ts";
import { PartFailure } from "./part-failure.tsx";

interface DistributionChartProps {
  readonly run: Evaluation;
  readonly metric: string;
}

/** How a metric spreads over the rows of a run, of one that goes on too. */
export function DistributionChart({ run, metric }: DistributionChartProps) {
  const { evaluation_id: id, edgewise } = run;
  const polled = usePolled<Distribution>(`/evaluations/${id}/distribution`, String(edgewise.seq), { metric });
  const found = polled.value.value;
  const plot = useMemo(() => (found === null ? null : plotOf(found)), [found]);
  const title = metric === "reward" ? "Rewards of rollouts" : `${singleLine(metric)} of rollouts`;
  if (found === null || plot === null) return <PartFailure what={title} polled={polled} />;
  if (found.n === 0)
    return <p role="status">{`${title}: none has a value yet${found.errored === 0 ? "" : `; ${thousands(found.errored)} ended in errors`}.`}</p>;
  return <Chart title={title} says={saysOf(found)} plot={plot} />;
}

const plotOf = ({ metric, bins }: Distribution): BarPlot => ({
  kind: "bars",
  x: { name: metric === "reward" ? "Reward" : singleLine(metric), text: panelNumber },
  y: { name: "Rollouts", text: (value) => (Number.isInteger(value) ? thousands(value) : "") },
  bars: bins.map(([low, high, value]) => ({ low, high, value })),
});

function saysOf({ n, errored, min, max, zero_one, bins }: Distribution): string {
  const without = errored === 0 ? "" : `; ${thousands(errored)} that ended in errors are not among them`;
  const ones = bins.find(([low, high]) => low === 1 && high === 1)?.[2] ?? 0;
  if (zero_one && (ones === 0 || ones === n)) return `${n === 1 ? "The only one is" : `All ${thousands(n)} are`} ${ones === 0 ? 0 : 1}${without}.`;
  if (zero_one) return `${thousands(ones)} of ${thousands(n)} ${ones === 1 ? "is" : "are"} 1, the others 0${without}.`;
  return `${thousands(n)} from ${panelNumber(min ?? 0)} to ${panelNumber(max ?? 0)}${without}.`;
}
