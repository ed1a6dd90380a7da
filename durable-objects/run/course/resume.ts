import { codeRefusal, codeVerdict, coversCode } from "../../../src/config/env-digest.ts";
import { differencesOf, evaluationSettings } from "../../../src/config/plan/evaluation-settings.ts";
import { canonicalJson } from "../../../src/config/canonical-json.ts";
import { BATCH_TIMEOUT_MINUTES } from "../../../src/config/options/execution-options.ts";
import { batchField } from "../../../src/config/plan/run-batch.ts";
import { runCache } from "../../../src/config/plan/run-cache.ts";
import { LOADING_FIELDS, orderOf, RESUME_FIELDS, type RunConfig } from "../../../src/config/plan/run-config.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { batchRefusal, turnBatches } from "../batching/turning.ts";
import { hasBegun, loadingOf, unpin } from "./begin-anew.ts";
import { pinCode } from "../grants/code.ts";
import type { RunContext } from "../state/context.ts";
import type { Resumed, ResumeRequest } from "../control.ts";
import { logEvent } from "../state/events.ts";
import { freshHealth, type RunHead } from "../state/head.ts";
import { freshPulse } from "../state/pulse.ts";
import type { Ledger } from "../state/ledger.ts";
import { endPinning, markChanged } from "./lifecycle.ts";
import { isSuspended } from "../grants/offers.ts";
import { wantHubPushAgain } from "../sending/hub-push.ts";
import { type CountedDebts, countDebts, debtsMark, debtsOfTotals, described, hasOtherCode, leftErrors, owedInAll, termsFor } from "./owed.ts";
import { isOwing, type Owed } from "./repair.ts";
import { ruleRefusal, staysStopped, stoppedWarning, watchAnew, withoutRule } from "../stopping/going-on.ts";
import { PLACES_A_TURN } from "./turns.ts";

/** `counted`: as a Run of many units counts before it decides; absent, or of another state of the run: counted in the transition. */
export interface CountedResume extends ResumeRequest {
  readonly counted?: CountedDebts | null;
}

/** Every field in which the caller's idea of the run differs from what is stored, with both values; `free` may differ. */
export function mismatches(config: RunConfig, expect: ResumeRequest["expect"], free: readonly string[] = []): readonly string[] {
  const compared = RESUME_FIELDS.filter((field) => !free.includes(field));
  const wanted = { ...Object.fromEntries(compared.map((field) => [field, expect[field]])), order: expect.order };
  return differencesOf({ ...evaluationSettings(config), order: orderOf(config) }, wanted);
}

/** 0 or less = all, which is more than any number. */
const asCount = (n: number): number => (n < 1 ? Number.POSITIVE_INFINITY : n);

/** Where digests of the code are compared, the version is part of them: what may change of the one may change of the other. */
const versionOfCode = ({ env_digest }: RunHead, request: ResumeRequest): readonly string[] =>
  typeof request.env_digest === "string" && env_digest !== null && coversCode(env_digest) ? ["env_version"] : [];

function refusal(ledger: Ledger, head: RunHead, request: ResumeRequest, begun: boolean, context: RunContext): Result<null> {
  const config = ledger.config();
  const suspended = isSuspended(config, head, context);
  if (head.paused !== undefined && !suspended) return fail("run_busy", "The run is paused.", "Continue it, or cancel it first.");
  if (head.phase !== "settled" && !suspended)
    return fail("run_busy", "The run is still working, or writing its results.", "Follow it, or cancel it first; then try again.");
  if (suspended && ledger.tickets().length > 0) return fail("run_busy", "Open units of the run are still ending.", "Try again in a few seconds.");
  const differences = mismatches(config, request.expect, begun ? versionOfCode(head, request) : LOADING_FIELDS);
  if (differences.length > 0)
    return fail("resume_mismatch", `This is another evaluation: ${differences.join("; ")}.`, "Use the same settings, or start a new run.");
  const grows = request.num_examples !== null && asCount(request.num_examples) > asCount(config.num_examples);
  const rule = ruleRefusal(config, request, grows);
  if (!rule.ok) return rule;
  if (request.num_examples !== null && asCount(request.num_examples) < asCount(config.num_examples) && request.num_examples < (head.n ?? 0)) {
    return fail("resume_mismatch", `num_examples: the run has ${head.n ?? config.num_examples}, this command ${request.num_examples}; a run can only grow.`);
  }
  if (config.shuffle_seed !== undefined && grows) {
    return fail(
      "resume_mismatch",
      "num_examples: the examples of this run were drawn from the whole data set (shuffle), so it cannot grow.",
      "Start a new run.",
    );
  }
  if (config.rescored_from !== undefined && request.num_examples !== null && asCount(request.num_examples) > asCount(config.num_examples))
    return fail("resume_mismatch", "num_examples: this run scores the rollouts of another again, and has as many examples as that has.", "Start a new run.");
  return ok(null);
}

function resumedConfig(config: RunConfig, request: ResumeRequest, begun: boolean): RunConfig {
  const larger = request.num_examples !== null && asCount(request.num_examples) > asCount(config.num_examples);
  const moved = (request.base_url ?? config.base_url) !== config.base_url || (request.api_key_var ?? config.api_key_var) !== config.api_key_var;
  const { replicas, num_workers, common_limit, budgets, cache, batch = false, ...rest } = config;
  return {
    ...rest,
    ...(begun ? {} : { ...loadingOf(request), ...replaced("dataset_name", request.dataset_name) }),
    // Another address or key stands for all of them.
    ...(replicas === undefined || moved ? {} : { replicas }),
    num_examples: larger && request.num_examples !== null ? request.num_examples : config.num_examples,
    base_url: request.base_url ?? config.base_url,
    api_key_var: request.api_key_var ?? config.api_key_var,
    max_concurrent: request.max_concurrent ?? config.max_concurrent,
    ...replaced("max_concurrent_generation", request.max_concurrent_generation),
    ...replaced("max_concurrent_scoring", request.max_concurrent_scoring),
    ...replaced("common_limit", request.common_limit ?? (request.max_concurrent === null ? common_limit : undefined)),
    ...replaced("priority", request.priority),
    ...replaced("cache", runCache(request, cache)),
    ...batchField(request.batch ?? batch),
    ...replaced("limits", request.limits),
    ...replaced("max_cost", request.max_cost),
    ...budgetsOf(request.budgets ?? budgets),
    ...replaced("headers", request.headers),
    ...replaced("headers_from_state", request.headers_from_state),
    ...replaced("verbose", request.verbose),
    ...workersOf(request.num_workers ?? num_workers),
    ...replaced("no_interleave_scoring", request.no_interleave_scoring),
    ...replaced("secrets", request.secrets),
    ...replaced("sandbox", request.sandbox),
    ...replaced("heartbeat_url", request.heartbeat_url),
    ...replaced("monitor", request.monitor),
    ...replaced("stall_minutes", request.stall_minutes),
    max_retries: request.max_retries ?? config.max_retries,
    // Who turns to batches gives them the time that they take.
    timeout_minutes: request.timeout_minutes ?? (request.batch === true && !batch ? BATCH_TIMEOUT_MINUTES : config.timeout_minutes),
    attended: request.attended,
  };
}

const workersOf = (workers: number | "auto" | undefined): Pick<RunConfig, "num_workers"> =>
  workers === undefined || workers === "auto" ? {} : { num_workers: workers };

const budgetsOf = (budgets: readonly string[] = []): Pick<RunConfig, "budgets"> => (budgets.length === 0 ? {} : { budgets });

/** What the request says of a field that a config may lack. */
function replaced<Name extends keyof RunConfig>(name: Name, value: RunConfig[Name] | null | undefined): Partial<RunConfig> {
  return value === null || value === undefined ? {} : { [name]: value };
}

/** Whether a run without rows reads its data anew: it ended before its first one, or is to read something else. */
function loadsAnew(head: RunHead, request: ResumeRequest, before: RunConfig, config: RunConfig): boolean {
  return (
    head.failure !== null ||
    hasOtherCode(head, request) ||
    canonicalJson(before.env_args) !== canonicalJson(config.env_args) ||
    before.cluster_by !== config.cluster_by ||
    canonicalJson(before.extra_env_kwargs ?? {}) !== canonicalJson(config.extra_env_kwargs ?? {})
  );
}

/**
 * A new generation of the same run: from `settled`, or from a suspension without open units (else 409, retryable). With nothing
 * owed and no growth nothing changes, so that the caller can just print the report; but a push to the Hub that failed is tried again.
 */
export function resume(ledger: Ledger, head: RunHead, request: CountedResume, context: RunContext): Result<Resumed> {
  const begun = hasBegun(ledger, head);
  const refused = refusal(ledger, head, request, begun, context);
  if (!refused.ok) return refused;
  const before = ledger.config();
  const stopped = staysStopped(head, request);
  if (stopped && head.unwritten !== true) return ok({ owed_rollouts: 0, owed_scores: 0, warnings: stoppedWarning(head) });
  const config = withoutRule(resumedConfig(before, request, begun), request);
  const batches = batchRefusal(ledger, head, request, config);
  if (!batches.ok) return batches;
  if (!begun && loadsAnew(head, request, before, config)) unpin(ledger, head);
  // Also what an earlier preparation was stopped in.
  const grows = head.pinned_for !== config.num_examples;
  // A folder whose units are shared out is taken over beside the rest.
  const prepares = grows || (head.import !== null && head.held === undefined);
  const terms = termsFor(head, before, request);
  const { counted } = request;
  const known = counted?.mark === debtsMark(head) ? counted.debts : debtsOfTotals(head, before);
  if (known === null && counted && head.done > PLACES_A_TURN) return fail("run_busy", "The run changed while it was looked through.", "Try again.");
  const debts = known ?? countDebts(ledger);
  const owed = owedInAll(head, config, debts, terms);
  const growth = grows && head.n !== null ? Math.max(0, (config.num_examples < 1 ? head.n + 1 : config.num_examples) - head.n) : 0;
  const all: Owed = stopped ? { rollouts: 0, scores: 0 } : { rollouts: owed.rollouts + growth * config.rollouts_per_example, scores: owed.scores };
  const kept = ledger.keptRollouts();
  const warnings: string[] = leftErrors(head, request, all);
  if (config.base_url !== before.base_url)
    warnings.push(`base_url changes from ${before.base_url} to ${config.base_url}; earlier rollouts were made at the former.`);
  const resumed: Resumed = { owed_rollouts: all.rollouts + all.scores, owed_scores: all.scores, warnings };
  // Final files that could not be written are written again: what was in the way may have been put back.
  const unwritten = head.unwritten === true || head.failure?.code === "storage_damaged";
  if (!isOwing(all) && !prepares && head.import === null && !unwritten && head.phase === "settled") {
    if (wantHubPushAgain(ledger, head, context)) warnings.push("The push to the Hugging Face Hub, which failed, is tried again.");
    return ok(resumed);
  }
  const offered = request.env_digest ?? null;
  const generates = all.rollouts > 0 || prepares || head.import !== null;
  const code = codeVerdict({ pinned: head.env_digest, offered, accepted: request.accept_code_change === true, generates });
  if (code === "refused") {
    const { message, hint } = codeRefusal(config.env_id, head.env_digest ?? "", offered ?? "");
    const version = mismatches(before, { env_version: request.expect.env_version });
    return fail("resume_mismatch", [...version, message].join("; "), hint);
  }

  ledger.putConfig(code === "changed" ? { ...config, env_version: request.expect.env_version ?? config.env_version } : config);
  // Rows of a folder that are yet to be taken over are looked at then.
  if (!stopped && head.n !== null && (head.import === null || head.held !== undefined) && isOwing(owed.fresh))
    head.repair = { from: 0, score_again: terms.fresh.scoreAgain };
  head.keep_errors = request.keep_errors;
  head.score_again = terms.fresh.scoreAgain || owed.leftScores;
  endPinning(head);
  delete head.unscored;
  delete head.scores;
  delete head.unwritten;
  delete head.lost_preparations;
  delete head.loading;
  head.generation++;
  ledger.renewPieces(head.generation);
  turnBatches(ledger, head);
  head.boot = request.boot;
  head.interrupted = false;
  delete head.paused;
  delete head.paused_ms;
  head.wary = [];
  head.failure = null;
  head.drain = null;
  head.phase = prepares ? "preparing" : "open";
  head.status = head.n === null ? "PENDING" : "RUNNING";
  head.ended_at = null;
  head.settled_at = null;
  head.deadline_at = null;
  head.started_at = null;
  head.generation_started_at = context.now;
  head.health = freshHealth();
  head.pulse = freshPulse(context.now);
  // Another monitor perhaps, which has heard nothing.
  delete head.watch;
  head.code_wait = null;
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Run resumed (generation ${head.generation}); ${described(all, kept)}`);
  watchAnew(ledger, head, before, request, context);
  for (const warning of warnings) logEvent(ledger, head, context, "WARNING", warning);
  head.resumed_seq = head.seq;
  if (code === "changed" && offered !== null) warnings.push(pinCode(ledger, head, offered, context));
  return ok(resumed);
}
