import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { type RewardRange, USUAL_RANGE } from "../../../src/metrics/interval.ts";
import { exampleScore } from "../../../src/metrics/sequential/example-score.ts";
import { parseStopRule, type StopRule } from "../../../src/config/options/stop-rule.ts";
import { StopWatch } from "../../../src/metrics/sequential/stop-watch.ts";
import { stoppedText } from "../../../src/metrics/sequential/stopped-early.ts";
import { endRun } from "../course/lifecycle.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Done, Ledger } from "../state/ledger.ts";
import { mayWatch } from "./may-watch.ts";
import type { StoredWatch } from "./stopping-store.ts";

/** Examples that one turn looks at: each takes some ten microseconds for the bounds, and one row to read. */
const EXAMPLES_A_TURN = 512;

const FRESH: StoredWatch = { version: 1, next: 0, state: null };

/**
 * Follows the run over the units that are done, in the order in which they were pinned and without a gap, and ends it when its rule is met. What it
 * decides depends on that prefix alone: not on which units were done first, on who did them, or on how often anything was told. Called after every
 * transition; `doneBefore`: units done before it.
 */
export function watchRun(ledger: Ledger, head: RunHead, doneBefore: number, context: RunContext): void {
  const config = ledger.config();
  if (config.stop_when === undefined || head.phase !== "open") return;
  // Resumed since its files could not be written.
  if (head.stopped !== undefined) return endStopped(ledger, head, context);
  if (!mayWatch(head) || head.n === null || head.done === head.n || (head.done === doneBefore && head.unwatched !== true)) return;
  const stored = ledger.stopping.watch() ?? FRESH;
  delete head.unwatched;
  if (stored.blind !== undefined) return;
  const looked = look(ledger, head, { stored, config: { ...config, stop_when: config.stop_when }, n: head.n }, context);
  if (looked.next !== stored.next || looked.blind !== undefined) ledger.stopping.putWatch(looked);
  if (looked.blind !== undefined)
    logEvent(ledger, head, context, "WARNING", `The rule to stop by (${config.stop_when}) looks no more: ${looked.blind}. The run plays all of its examples`);
  if (head.stopped !== undefined) endStopped(ledger, head, context);
}

interface Looking {
  readonly stored: StoredWatch;
  readonly config: RunConfig & { readonly stop_when: string };
  readonly n: number;
}

/** The watch after the units that are done from where it is on; `head.stopped` is set when one of them meets the rule. */
function look(ledger: Ledger, head: RunHead, { stored, config, n }: Looking, context: RunContext): StoredWatch {
  const rule = parseStopRule(config.stop_when);
  const alpha = config.stop_alpha ?? 0.05;
  const range = head.reward_range ?? USUAL_RANGE;
  const most = Math.min(EXAMPLES_A_TURN, Math.max(1, context.slice ?? EXAMPLES_A_TURN));
  let { next } = stored;
  try {
    const pairsOfZeroAndOne = rule.kind === "versus" && ledger.stopping.baselinePairs();
    const watch = new StopWatch({ rule, alpha, range, population: n, pairsOfZeroAndOne }, stored.state ?? undefined);
    for (; next < n && next - stored.next < most; ) {
      const done = ledger.done(next);
      if (done === null || done.owed) return watched(next, watch);
      addTo(watch, rule, ledger, done, range);
      next++;
      const decision = watch.decision();
      if (decision === null || decision.examples === n) continue;
      head.stopped = { rule: config.stop_when, alpha, ...decision, of: n };
      return watched(next, watch);
    }
    if (next < n) head.unwatched = true;
    return watched(next, watch);
  } catch (thrown) {
    if (thrown instanceof RangeError) return { ...stored, next, blind: `example ${next}: ${thrown.message}` };
    throw thrown;
  }
}

const watched = (next: number, watch: StopWatch): StoredWatch => ({ version: 1, next, state: watch.state() });

function addTo(watch: StopWatch, rule: StopRule, ledger: Ledger, { unit, rollouts }: Done, range: RewardRange): void {
  const own = exampleScore(
    rollouts.map((rollout) => (rollout === null || rollout.error !== null ? null : rollout.reward)),
    range,
  );
  watch.add(own, rule.kind === "versus" ? (ledger.stopping.baselineOf(unit) ?? undefined) : undefined);
}

/** Nothing more is handed out; what is open is finished and counts, and what is generated besides is scored. */
function endStopped(ledger: Ledger, head: RunHead, context: RunContext): void {
  if (head.stopped === undefined) return;
  logEvent(ledger, head, context, "INFO", stoppedText(head.stopped));
  endRun(ledger, head, context, "COMPLETED", "drain", null);
  head.scores_rest = true;
}
