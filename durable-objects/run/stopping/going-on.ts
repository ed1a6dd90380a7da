import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { NO_STOP_RULE } from "../../../src/config/options/stop-rule.ts";
import { stoppedText } from "../../../src/metrics/sequential/stopped-early.ts";
import type { ResumeRequest } from "../control.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

const isDropped = ({ stop_when }: ResumeRequest): boolean => stop_when === NO_STOP_RULE;

/** What a resume says of the rule to stop by: it was written down before the first call, so it stays, or goes. `grows`: the resume wants more examples. */
export function ruleRefusal({ stop_when: rule }: RunConfig, request: ResumeRequest, grows: boolean): Result<null> {
  const { stop_when: said } = request;
  if (isDropped(request)) return ok(null);
  if (typeof said === "string" && said !== rule)
    return fail(
      "resume_mismatch",
      rule === undefined
        ? `stop_when: the run was begun without a rule to stop by, and ${JSON.stringify(said)} would be one that knows its rows.`
        : `stop_when: the run has ${JSON.stringify(rule)}, this command ${JSON.stringify(said)}.`,
      `A rule is written down before the first call. Start a new run${rule === undefined ? "" : `, or go on without one: stop_when = "${NO_STOP_RULE}"`}.`,
    );
  if (rule === undefined || !grows) return ok(null);
  return fail(
    "resume_mismatch",
    `num_examples: the run stops by ${JSON.stringify(rule)}, which holds for the examples that were drawn before its first call, so it cannot grow.`,
    `Go on without the rule: --stop-when ${NO_STOP_RULE}.`,
  );
}

/** Whether the run stays as it stopped: nothing of it is owed. */
export const staysStopped = (head: RunHead, request: ResumeRequest): boolean => head.stopped !== undefined && !isDropped(request);

/** What whoever wants to go on with such a run is told. */
export const stoppedWarning = ({ stopped }: RunHead): readonly string[] =>
  stopped === undefined ? [] : [`${stoppedText(stopped)}. To play the others too: resume it with --stop-when ${NO_STOP_RULE}`];

/** The config of a run that goes on, without the rule where that is dropped. */
export function withoutRule(config: RunConfig, request: ResumeRequest): RunConfig {
  if (!isDropped(request)) return config;
  const { stop_when: _, stop_alpha: __, stop_baseline: ___, ...rest } = config;
  return rest;
}

/** The watch begins anew, over what a repair puts in the place of errors too; without the rule there is none. */
export function watchAnew(ledger: Ledger, head: RunHead, before: RunConfig, request: ResumeRequest, context: RunContext): void {
  if (before.stop_when === undefined) return;
  ledger.stopping.forgetWatch();
  if (!isDropped(request)) {
    head.unwatched = true;
    return;
  }
  delete head.stopped;
  delete head.unwatched;
  logEvent(ledger, head, context, "INFO", `The rule to stop by (${before.stop_when}) is dropped: the run goes on to its end`);
}
