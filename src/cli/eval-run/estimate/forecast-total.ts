/** What several evaluations take together. */
import { added, exactly, type Predicted } from "../../../forecast/predicted-sum.ts";
import { COUNTED, type Counted } from "../../../forecast/run-forecast.ts";
import type { ForecastEvaluation, RunForecast } from "../../connection/api-types.ts";

/** The sum of forecasts. Money is null where that of one is, and so is time. `most`: requests in flight of all together; null = each has its own, and all go on side by side. */
export function totalOf(evaluations: readonly ForecastEvaluation[], most: number | null): RunForecast {
  const forecasts = evaluations.flatMap(({ forecast }) => (forecast === null ? [] : [forecast]));
  const sum = (of: (forecast: RunForecast) => Predicted & { readonly spent: number }) =>
    forecasts.map(of).reduce((all, each) => ({ ...added(all, each), spent: all.spent + each.spent }), { ...exactly(0), spent: 0 });
  const counts = Object.fromEntries(COUNTED.map((name) => [name, sum((forecast) => forecast[name])])) as Pick<RunForecast, Counted>;
  const unknown = forecasts.length < evaluations.length || forecasts.some(({ cost_usd }) => cost_usd === null);
  return { ...counts, cost_usd: unknown ? null : sum(({ cost_usd }) => cost_usd ?? { ...exactly(0), spent: 0 }), seconds: secondsOf(evaluations, most) };
}

/** As long as the longest; where they share requests, at least as long as their work takes with those. */
function secondsOf(evaluations: readonly ForecastEvaluation[], most: number | null): Predicted | null {
  const timed = evaluations.flatMap(({ forecast, max_concurrent }) => (forecast === null ? [] : [{ seconds: forecast.seconds, lanes: max_concurrent }]));
  if (timed.some(({ seconds }) => seconds === null)) return null;
  const end = (part: keyof Predicted): number => {
    const each = timed.map(({ seconds, lanes }) => ({ seconds: seconds?.[part] ?? 0, lanes }));
    const longest = Math.max(0, ...each.map(({ seconds }) => seconds));
    if (most === null) return longest;
    const work = each.reduce((sum, { seconds, lanes }) => sum + seconds * (lanes < 1 ? most : Math.min(lanes, most)), 0);
    return Math.max(longest, work / most);
  };
  return { expected: end("expected"), low: end("low"), high: end("high") };
}
