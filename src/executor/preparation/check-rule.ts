import { parseStopRule } from "../../config/options/stop-rule.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { RewardRange } from "../../metrics/interval.ts";

/** Throws `invalid_request` for a rule to stop by that rewards of this range cannot meet, or meet before anything is asked. */
export function checkRule({ stop_when }: Pick<RunConfig, "stop_when">, [low, high]: RewardRange): void {
  if (stop_when === undefined) return;
  const rule = parseStopRule(stop_when);
  const refuse = (problem: string, hint: string): EdgewiseError => new EdgewiseError("invalid_request", `stop_when: ${problem}`, { hint });
  const declare = "The range is what the environment declares (rewardRange), else the sum of the weights of its reward functions.";
  if (!(low < high)) throw refuse(`rewards of this environment are ${low} always, so there is nothing to be found out.`, declare);
  if (rule.kind === "mean" && !(rule.bound > low && rule.bound < high))
    throw refuse(`rewards of this environment are from ${low} to ${high}, so that no mean is ever on the other side of ${rule.bound}.`, declare);
  if (rule.kind === "halfwidth" && rule.bound >= (high - low) / 2)
    throw refuse(`rewards of this environment are from ${low} to ${high}, so that a half-width of ${rule.bound} says nothing.`, declare);
}
