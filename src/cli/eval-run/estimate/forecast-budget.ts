/** What becomes of runs whose budget is less than they may cost. */
import { dollarsText } from "../../../report/text/cost-text.ts";
import { thousands } from "../../../report/text/format.ts";
import type { LabelledForecast } from "./labelled-forecast.ts";

/** Null where the run has no budget of its own, or one that its upper end keeps to; or where nobody knows what it costs. */
export function budgetText({ answer, own, maxCost }: LabelledForecast): string | null {
  const { forecast, forecast_examples: of, from } = answer;
  const cost = forecast?.cost_usd ?? null;
  if (maxCost === null || cost === null || of === null || cost.high <= maxCost) return null;
  const played = own ? from.examples : 0;
  const examples = (sum: number): number => {
    const toCome = sum - cost.spent;
    return toCome <= 0 ? of : Math.min(of, Math.floor(unrounded(played + ((of - played) * Math.max(0, maxCost - cost.spent)) / toCome)));
  };
  const isBelow = cost.expected > maxCost;
  const [after, least, most] = [isBelow ? cost.expected : cost.high, cost.high, cost.low].map((sum) => thousands(examples(sum)));
  const range = isBelow && least !== most ? ` (${least} to ${most})` : "";
  const when = isBelow ? "is below that: the run ends at it" : `is below the upper end (${dollarsText(cost.high)}): at that the run ends`;
  return `--max-cost ${maxCost} ${when}, CANCELLED, with what it has, after about ${after} of ${thousands(of)} examples${range}; for all of them: --max-cost ${enough(cost.high)}`;
}

/** A tenth more than the upper end: the last calls are sent where the most that they can cost is left, which is more than they take. */
const MARGIN = 1.1;

/** Dollars to be typed, rounded up to two digits: 1.2 for 1.08. */
function enough(dollars: number): number {
  const step = 10 ** (Math.floor(Math.log10(dollars * MARGIN)) - 1);
  return Number((Math.ceil(unrounded((dollars * MARGIN) / step)) * step).toPrecision(2));
}

/** Products and quotients of doubles may lie a little beside the whole number that they are. */
const unrounded = (value: number): number => Number(value.toPrecision(8));
