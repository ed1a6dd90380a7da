import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { type SteeredSettings, steeredText } from "../../../src/config/plan/steered.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { isSuspended } from "../grants/offers.ts";
import { markChanged } from "../course/lifecycle.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { allowAnew } from "./allowances.ts";
import type { SteerRequest } from "./steer-request.ts";

/** What grants have parts of, or are told. */
const GRANTED = ["max_concurrent", "max_concurrent_generation", "max_concurrent_scoring", "priority"] as const;

/** Nothing that is open is thrown away by any of them. Each may be repeated: a second time it changes nothing. */
export function steer(ledger: Ledger, head: RunHead, request: SteerRequest, context: RunContext): Result<null> {
  if (head.phase !== "preparing" && head.phase !== "open") return fail("illegal_transition", `The run is not working any more: ${head.status}.`);
  if (head.pushed !== undefined) return fail("illegal_transition", "The evaluation was pushed: nothing of it is made here, so there is nothing to steer.");
  if (isSuspended(ledger.config(), head, context))
    return fail("illegal_transition", "The run is interrupted: nothing of it is under way.", "Resume it, with other settings if needed.");
  if (request.kind === "set") return set(ledger, head, request.settings, context);
  return request.kind === "pause" ? pause(ledger, head, context) : goOn(ledger, head, context);
}

/** Nothing begins any more, and what is under way ends. */
function pause(ledger: Ledger, head: RunHead, context: RunContext): Result<null> {
  if (head.paused !== undefined) return ok(null);
  head.paused = { at: context.now };
  allowAnew(ledger, head);
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", "Run paused: what is under way ends, and nothing begins until it is continued");
  return ok(null);
}

function goOn(ledger: Ledger, head: RunHead, context: RunContext): Result<null> {
  if (head.paused === undefined) return ok(null);
  const ms = Math.max(0, context.now - head.paused.at);
  delete head.paused;
  // The time limit is for work, and none was done.
  head.paused_ms = (head.paused_ms ?? 0) + ms;
  if (head.deadline_at !== null) head.deadline_at += ms;
  if (head.pulse !== undefined) head.pulse = { ...head.pulse, progressed_at: context.now };
  allowAnew(ledger, head);
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Run continued, after ${Math.round(ms / 1_000)} s`);
  return ok(null);
}

function set(ledger: Ledger, head: RunHead, settings: SteeredSettings, context: RunContext): Result<null> {
  const before = ledger.config();
  const config = withSettings(before, settings);
  const changes = steeredText(before, config);
  if (changes.length === 0) return ok(null);
  if (settings.timeout_minutes !== undefined) {
    const deadline =
      head.started_at === null || settings.timeout_minutes === null ? null : head.started_at + settings.timeout_minutes * 60_000 + (head.paused_ms ?? 0);
    const now = head.paused?.at ?? context.now;
    if (deadline !== null && deadline <= now) {
      const worked = Math.ceil((now - (head.started_at ?? now) - (head.paused_ms ?? 0)) / 60_000);
      return fail(
        "invalid_request",
        `timeout_minutes: the run has worked for ${worked} minutes; ${settings.timeout_minutes} would end it.`,
        "Stop it instead.",
      );
    }
    head.deadline_at = deadline;
  }
  ledger.putConfig(config);
  if (GRANTED.some((field) => config[field] !== before[field])) allowAnew(ledger, head);
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Run set: ${changes.join(", ")}`);
  return ok(null);
}

function withSettings(config: RunConfig, settings: SteeredSettings): RunConfig {
  const { max_concurrent_scoring, ...rest } = settings;
  const { max_concurrent_scoring: before, ...others } = config;
  const scoring = max_concurrent_scoring === undefined ? before : max_concurrent_scoring;
  return { ...others, ...rest, ...(scoring === undefined || scoring === null ? {} : { max_concurrent_scoring: scoring }) };
}
