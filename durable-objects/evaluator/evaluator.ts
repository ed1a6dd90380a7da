import { canonicalJson } from "../../src/config/canonical-json.ts";
import { type Env, keepsSchedules } from "../../src/env.ts";
import { fail, type Failure, ok, type Result } from "../../src/errors/result.ts";
import { erroredRollouts } from "../../src/metrics/totals.ts";
import type { Creator } from "../../src/schedules/state.ts";
import { runName, teamField } from "../../src/teams/team-name.ts";
import type { MlflowTarget } from "../../src/training/definition.ts";
import { dueAt, type EvaluatorEvent, newEvaluator, step } from "../../src/training/policy.ts";
import { hasNumbers } from "../../src/training/run-end.ts";
import { needRewards, valuesOfRun } from "../../src/training/run-values.ts";
import type { AwaitedNumbers, Action, PostedStep, ReadRewards, SeenRun, StepOrder } from "../../src/training/state.ts";
import type { RunView } from "../run/control.ts";
import { evaluatorIndexStub, runStub } from "../stubs.ts";
import { cancelRun } from "../cancel-run.ts";
import { ClockedObject } from "../clocked-object.ts";
import type { EvaluatorControl, EvaluatorFacts, EvaluatorPut, EvaluatorView, RecordPage, StepAnswer, StepName } from "./evaluator-control.ts";
import { type EvaluatorHead, EvaluatorStore } from "./evaluator-store.ts";
import { sendEvaluatorTask } from "./evaluator-task.ts";

/** Finished evaluations whose points are posted in one turn: few requests, since a turn has one time for all of them. */
const POSTED_AT_ONCE = 50;

const NO_EVALUATOR = fail("not_found", "Evaluator not found.", "`npx edgewise evaluator list` shows those there are.");

/**
 * One evaluator of a training loop: which steps were posted, what became of each of their evaluations, and the runs that are at work. What is decided is decided
 * by one pure step (src/training/policy.ts) in one transaction, alarm included; what a step leaves to be done is repeated until somebody tells what came of it.
 */
export class Evaluator extends ClockedObject<EvaluatorHead> implements EvaluatorControl {
  protected readonly kind = "evaluator";
  protected readonly store: EvaluatorStore;
  protected readonly look = (): Promise<unknown> => this.#happened({ type: "tick" });

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.store = new EvaluatorStore(ctx.storage);
  }

  async put({ team, name, definition, creator }: EvaluatorPut): Promise<Result<EvaluatorView>> {
    const made = this.ctx.storage.transactionSync((): Result<boolean> => {
      const head = this.store.head();
      if (!head.ok) return head;
      if (head.value !== null) return ok(false);
      const state = newEvaluator(name, crypto.randomUUID(), definition, creator, Date.now());
      // Above whatever the Registry may remember of another one of this name.
      this.store.make({ version: Date.now(), projected: 0, team, delivered: 0, state });
      return ok(true);
    });
    if (!made.ok) return made;
    return this.#viewAfter(made.value ? { type: "tick" } : { type: "put", definition, creator });
  }

  async pause(request: { readonly by: string; readonly reason: string }): Promise<Result<EvaluatorView>> {
    return this.#viewAfter({ ...request, type: "paused" });
  }
  async resume(): Promise<Result<EvaluatorView>> {
    return this.#viewAfter({ type: "resumed" });
  }

  async #viewAfter(event: EvaluatorEvent): Promise<Result<EvaluatorView>> {
    const happened = await this.#happened(event);
    if (!happened.ok) return happened;
    const head = this.store.head();
    if (!head.ok) return head;
    return head.value === null ? NO_EVALUATOR : ok(this.#viewOf(head.value, 1_000));
  }

  async view(most: number): Promise<EvaluatorView | null> {
    const head = this.known();
    return head === null ? null : this.#viewOf(head, most);
  }

  async post({ posted, creator }: { readonly posted: PostedStep; readonly creator: Creator }): Promise<Result<StepAnswer>> {
    const known = this.store.head();
    if (!known.ok) return known;
    if (known.value === null) return NO_EVALUATOR;
    const happened = await this.#happened({ type: "posted", posted, known: this.store.ofStep(posted.step).map(({ evaluation }) => evaluation), creator });
    if (!happened.ok) return happened;
    const { state } = known.value;
    const due = dueAt(state, posted).map(({ name }) => name);
    const { paused } = state;
    return ok({ due, records: this.store.ofStep(posted.step), ...(paused === undefined || posted.now === true ? {} : { paused }) });
  }

  async order({ step: index, evaluation }: StepName): Promise<StepOrder | null> {
    const found = this.known()?.state.open.find(({ order }) => order.posted.step === index && order.evaluation.name === evaluation);
    return found !== undefined && !found.queued && found.run_id === null ? found.order : null;
  }
  async created({ step: index, evaluation, run_id }: StepName & { readonly run_id: string }): Promise<void> {
    await this.#happened({ type: "created", step: index, evaluation, run_id });
  }
  async refused(request: StepName & { readonly failure: Failure; readonly passing: boolean }): Promise<void> {
    await this.#happened({ ...request, type: "refused" });
  }

  async awaited(run_id: string): Promise<AwaitedNumbers | null> {
    const open = this.known()?.state.open.find((each) => each.run_id === run_id);
    if (open === undefined) return null;
    const { metrics, breakdown_keys } = open.order.evaluation;
    return { metrics, ...(breakdown_keys === undefined ? {} : { breakdown_keys }) };
  }
  async counted({ run_id, read }: { readonly run_id: string; readonly read: ReadRewards }): Promise<void> {
    const head = this.known();
    const awaited = await this.awaited(run_id);
    if (head === null || awaited === null) return;
    const view = await runStub(this.env, runName({ run_id, ...teamField(head.team) })).view();
    await this.#happened({ type: "looked", run_id, seen: view === null ? null : seenOf(view, awaited.metrics, read) });
  }

  async hindered(request: { readonly run_id: string; readonly failure: Failure }): Promise<void> {
    await this.#happened({ ...request, type: "hindered" });
  }

  async finished(after: number, most: number): Promise<RecordPage | null> {
    return this.known() === null ? null : this.store.finished(after, most);
  }

  async undelivered(): Promise<(RecordPage & { readonly target: MlflowTarget }) | null> {
    const head = this.known();
    const target = head?.state.definition.mlflow;
    if (head === null || target === undefined || head.state.posting === null) return null;
    return { ...this.store.finished(head.delivered, POSTED_AT_ONCE), target };
  }
  async delivered({ through, target }: { readonly through: number; readonly target: MlflowTarget }): Promise<void> {
    const head = this.known();
    // What arrived at a target of before has not arrived at this one.
    if (head === null || canonicalJson(head.state.definition.mlflow as never) !== canonicalJson(target as never)) return;
    this.store.delivered(through);
    await this.#happened({ type: "delivered", all: this.store.finished(through, 1).records.length === 0 });
  }
  async undeliverable({ failure }: { readonly failure: Failure }): Promise<void> {
    await this.#happened({ type: "undelivered", failure });
  }

  async remove(): Promise<boolean> {
    return this.removeAll();
  }

  /** One step, and what it leaves to be done. */
  async #happened(event: EvaluatorEvent): Promise<Result<null>> {
    const decided = this.ctx.storage.transactionSync(() => this.#decide(event));
    if (!decided.ok) return decided;
    const { team, name, actions } = decided.value;
    for (const action of actions) await this.attempt(action.do, () => this.#perform(team, name, action));
    await this.attempt("registry", () => this.project((head) => this.#tellRegistry(head)));
    return ok(null);
  }

  #decide(event: EvaluatorEvent): Result<{ readonly team: string; readonly name: string; readonly actions: readonly Action[] }> {
    const head = this.store.head();
    if (!head.ok) return head;
    if (head.value === null) return NO_EVALUATOR;
    const now = Date.now();
    const serving = keepsSchedules(this.env);
    const before = head.value;
    const { state, actions, notes, wake_at } = step(before.state, now, event, serving);
    const isShown =
      before.projected === 0 ||
      notes.length > 0 ||
      before.state.definition !== state.definition ||
      before.state.paused !== state.paused ||
      wakes(before) !== wakes({ state });
    this.store.put({ ...before, state, version: before.version + (isShown ? 1 : 0) });
    this.store.note(notes, now);
    if (wake_at !== null && serving) void this.ctx.storage.setAlarm(wake_at);
    return ok({ team: before.team, name: state.name, actions });
  }

  async #perform(team: string, name: string, action: Action): Promise<void> {
    if (action.do === "create")
      return await sendEvaluatorTask(this.env, { team, evaluator: name, create: { step: action.step, evaluation: action.evaluation } });
    if (action.do === "post") return await sendEvaluatorTask(this.env, { team, evaluator: name, create: null });
    const run = runStub(this.env, runName({ run_id: action.run_id, ...teamField(team) }));
    if (action.do === "cancel") return await cancelRun(run);
    const view = await run.view();
    const seen = view === null ? null : seenOf(view, action.metrics);
    // Rows are read where other work of the queue is done; each look sends for it again until it is told.
    if (seen?.over && hasNumbers(seen) && needRewards(action.metrics))
      return await sendEvaluatorTask(this.env, { team, evaluator: name, create: null, read: action.run_id });
    const { run_id } = action;
    if (seen === null || seen.over) return void (await this.#happened({ type: "looked", run_id, seen }));
    const failure = view?.writing_failure ?? null;
    const known = this.known()?.state.open.find((each) => each.run_id === run_id)?.failure ?? null;
    if (failure?.message !== known?.message) await this.#happened({ type: "hindered", run_id, failure });
  }

  async #tellRegistry(head: EvaluatorHead): Promise<void> {
    const { version, state, team } = head;
    await evaluatorIndexStub(this.env, team).projectEvaluator({ name: state.name, version, wake_at: wakes(head), facts: this.#factsOf(head) });
  }

  #factsOf({ state }: EvaluatorHead): EvaluatorFacts {
    const { name, id, definition, creator, created_at, updated_at, open, posting, paused } = state;
    const facts = { name, id, definition, created_by: creator.user, created_at, updated_at, open: open.length, last: this.store.last(), posting };
    return { ...facts, ...(paused === undefined ? {} : { paused }) };
  }

  #viewOf(head: EvaluatorHead, most: number): EvaluatorView {
    const at_work = head.state.open.map(({ order, queued, run_id, replaced_by, failure }) => ({
      step: order.posted.step,
      evaluation: order.evaluation.name,
      queued,
      run_id,
      replaced_by: replaced_by ?? null,
      failure: failure ?? null,
    }));
    return { ...this.#factsOf(head), at_work, records: this.store.records(most) };
  }
}

/** While something is at work the watchdog looks each time: its looks are further apart than the object's own. */
const wakes = ({ state }: Pick<EvaluatorHead, "state">): number | null => (state.open.length > 0 || state.posting !== null ? 0 : null);

const seenOf = (view: RunView, metrics: readonly string[], read: ReadRewards = { ok: true, values: {} }): SeenRun => ({
  // One that is cancelled has no number to wait for.
  over: view.phase === "settled" || view.suspended || view.status === "CANCELLED",
  status: view.status,
  suspended: view.suspended,
  failure: view.failure,
  rollouts: view.totals.rollouts,
  errored: erroredRollouts(view.totals),
  values: valuesOfRun(view, metrics, read.ok ? read.values : {}),
  ...(read.ok ? (read.breakdown === undefined ? {} : { breakdown: read.breakdown }) : { unread: read.failure }),
});
