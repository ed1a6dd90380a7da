import { MOST_TOLD } from "../../src/alerts/occurrence.ts";
import { canonicalJson } from "../../src/config/canonical-json.ts";
import { type Env, keepsSchedules } from "../../src/env.ts";
import { fail, ok, type Result } from "../../src/errors/result.ts";
import { answeredBy } from "../../src/schedules/answered-by.ts";
import { nextDues } from "../../src/schedules/due-times.ts";
import { newSchedule, type ScheduleEvent, step } from "../../src/schedules/policy.ts";
import type { Action, Creator, Order } from "../../src/schedules/state.ts";
import type { ComparisonOrder, ComparisonOutcome } from "../../src/drift/series.ts";
import { averageReward, erroredRollouts } from "../../src/metrics/totals.ts";
import { runName, teamField } from "../../src/teams/team-name.ts";
import { tellAlerts } from "../alert-book/tell-alerts.ts";
import { cancelRun } from "../cancel-run.ts";
import { ClockedObject } from "../clocked-object.ts";
import { occurrencesOf } from "./schedule-occurrences.ts";
import { DriftBook } from "./drift-book.ts";
import { registryStub, runStub, scheduleIndexStub } from "../stubs.ts";
import type { DriftFacts, ScheduleControl, ScheduleFacts, SchedulePut, ScheduleView } from "./schedule-control.ts";
import { type ScheduleHead, ScheduleStore } from "./schedule-store.ts";
import { sendScheduleTask } from "./schedule-task.ts";

/** Of its series and of its events, in a view. */
const SHOWN = 100;
/** Runs that one turn deletes. */
const REMOVED_AT_ONCE = 20;

const NO_SCHEDULE = fail("not_found", "Schedule not found.", "`npx edgewise schedule list` shows those there are.");

/**
 * One schedule: when it is due, what became of each due time, and the run that is at work. Its alarm is its clock. What is decided is decided by one pure step
 * (src/schedules/policy.ts) in one transaction, alarm included; what a step leaves to be done is repeated until somebody tells what came of it. The
 * machine's clock counts: a due time is one of the calendar.
 */
export class Schedule extends ClockedObject<ScheduleHead> implements ScheduleControl {
  protected readonly kind = "schedule";
  protected readonly store: ScheduleStore;
  protected readonly look = (): Promise<unknown> => this.#happened({ type: "tick" });
  readonly #drift: DriftBook;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.store = new ScheduleStore(ctx.storage);
    this.#drift = new DriftBook(ctx.storage.sql, this.store);
  }

  async put({ team, name, definition, creator }: SchedulePut): Promise<Result<ScheduleView>> {
    const made = this.ctx.storage.transactionSync((): Result<boolean> => {
      const head = this.store.head();
      if (!head.ok) return head;
      if (head.value !== null) return ok(false);
      // Above whatever the Registry may remember of another one of this name.
      this.store.make({ version: Date.now(), projected: 0, team, state: newSchedule(name, crypto.randomUUID(), definition, creator, Date.now()) });
      return ok(true);
    });
    if (!made.ok) return made;
    return this.#answered(made.value ? { type: "tick" } : { type: "put", definition, creator });
  }

  async view(): Promise<ScheduleView | null> {
    const head = this.known();
    return head === null ? null : this.#viewOf(head);
  }

  async pause(request: { readonly by: string; readonly reason: string }): Promise<Result<ScheduleView>> {
    return this.#answered({ type: "pause", ...request });
  }
  async resume({ creator }: { readonly creator: Creator }): Promise<Result<ScheduleView>> {
    return this.#answered({ type: "resume", creator });
  }
  async run({ id }: { readonly id: string }): Promise<Result<ScheduleView>> {
    return this.#answered({ type: "run", id });
  }

  async order(due: number): Promise<Order | null> {
    const head = this.store.head();
    const active = head.ok ? head.value?.state.active : null;
    return active !== null && active !== undefined && active.order.due === due && active.run_id === null ? active.order : null;
  }
  async created(request: { readonly due: number; readonly run_id: string }): Promise<void> {
    await this.#happened({ type: "created", ...request });
  }
  async refused(request: Extract<ScheduleEvent, { type: "refused" }>): Promise<void> {
    await this.#happened({ ...request, type: "refused" });
  }

  async comparison(runId: string): Promise<ComparisonOrder | null> {
    const head = this.store.head();
    return head.ok && head.value !== null ? this.#drift.order(runId) : null;
  }
  async compared({ run_id, outcome }: { readonly run_id: string; readonly outcome: ComparisonOutcome }): Promise<void> {
    if (this.#changeDrift((now) => this.#drift.compared(run_id, outcome, now))) await this.#happened({ type: "tick" });
  }
  async resetDrift(): Promise<Result<ScheduleView>> {
    this.#changeDrift((now) => {
      this.#drift.reset(now);
      return true;
    });
    return this.#answered({ type: "tick" });
  }

  async remove(): Promise<boolean> {
    return this.removeAll();
  }

  async #answered(event: ScheduleEvent): Promise<Result<ScheduleView>> {
    const happened = await this.#happened(event);
    if (!happened.ok) return happened;
    const head = this.store.head();
    if (!head.ok) return head;
    return head.value === null ? NO_SCHEDULE : ok(this.#viewOf(head.value));
  }

  /** One step, and what it leaves to be done. */
  async #happened(event: ScheduleEvent): Promise<Result<null>> {
    const decided = this.ctx.storage.transactionSync(() => this.#decide(event));
    if (!decided.ok) return decided;
    const { team, schedule, actions, compare } = decided.value;
    for (const action of actions) await this.attempt(action.do, () => this.#perform(team, action));
    await this.attempt("alerts", () => this.#tellAlerts(team));
    if (compare !== null) await this.attempt("comparison", () => sendScheduleTask(this.env, { team, schedule, due: 0, compare }));
    await this.attempt("retention", () => this.#retain());
    await this.attempt("registry", () => this.project((head) => this.#tellRegistry(head)));
    return ok(null);
  }

  /** In one transaction; whether anything is otherwise now, which lists then show. */
  #changeDrift(change: (now: number) => boolean): boolean {
    return this.ctx.storage.transactionSync(() => {
      const head = this.store.head();
      if (!head.ok || head.value === null || !change(Date.now())) return false;
      this.store.put({ ...head.value, version: head.value.version + 1 });
      return true;
    });
  }

  #decide(event: ScheduleEvent): Result<Decided> {
    const head = this.store.head();
    if (!head.ok) return head;
    if (head.value === null) return NO_SCHEDULE;
    const now = Date.now();
    const serving = keepsSchedules(this.env);
    const before = head.value;
    const { state, actions, notes, wake_at } = step(before.state, now, event, serving);
    const isShown = before.projected === 0 || notes.length > 0 || shownOf(before.state) !== shownOf(state);
    this.store.put({ ...before, state, version: before.version + (isShown ? 1 : 0) });
    this.store.note(notes, now);
    const alerting = this.store.alerting();
    this.store.oweAlerts(occurrencesOf(state, notes, alerting, now));
    const order = before.state.active?.order;
    for (const note of notes) if (note.note === "ended" && order !== undefined) this.#drift.ended(note, order, state.definition, now);
    const compare = serving ? this.#drift.due(now) : null;
    const times = [wake_at, this.#drift.wakeAt()].filter((time) => time !== null);
    if (times.length > 0 && serving) void this.ctx.storage.setAlarm(Math.min(...times));
    return ok({ team: before.team, schedule: state.name, actions, compare });
  }

  async #perform(team: string, action: Action): Promise<void> {
    if (action.do === "create") {
      const { due, schedule } = action.order;
      try {
        return await sendScheduleTask(this.env, { team, schedule, due });
      } catch (thrown) {
        await this.#happened({ type: "unsent", due });
        throw thrown;
      }
    }
    const run = runStub(this.env, runName({ run_id: action.run_id, ...teamField(team) }));
    if (action.do === "cancel") return await cancelRun(run);
    const view = await run.view();
    const seen =
      view === null
        ? null
        : {
            over: view.phase === "settled" || view.suspended,
            status: view.status,
            suspended: view.suspended,
            failure: view.failure,
            avg_reward: averageReward(view.totals),
            reward_ci95: view.scores?.reward_ci95 ?? null,
            dataset_digest: view.dataset_digest,
            env_digest: view.env_digest,
            env_args: view.config.env_args,
            answered_by: answeredBy(view.config, view.response_models),
            rollouts: view.totals.rollouts,
            errored: erroredRollouts(view.totals),
            stopped: view.stopped_early !== undefined,
          };
    if (seen === null || seen.over) await this.#happened({ type: "looked", run_id: action.run_id, seen });
  }

  async #tellAlerts(team: string): Promise<void> {
    for (let owed = this.store.owedAlerts(MOST_TOLD); owed.length > 0; owed = this.store.owedAlerts(MOST_TOLD)) {
      await tellAlerts(this.env, team, owed);
      this.store.alertsTold(owed.map(({ id }) => id));
    }
  }

  /** Deletes runs beyond those that are kept, by the deletion of runs; one that somebody keeps stays. */
  async #retain(): Promise<void> {
    const head = this.store.head();
    if (!head.ok || head.value === null || !keepsSchedules(this.env)) return;
    const { team, state } = head.value;
    const { keep } = state.definition;
    if (keep === undefined) return;
    for (const run_id of this.store.beyond(keep, REMOVED_AT_ONCE, this.#drift.needed())) {
      const { kept } = await registryStub(this.env, team).standing(run_id);
      const removed = kept ? ok(null) : await runStub(this.env, runName({ run_id, ...teamField(team) })).remove();
      if (!removed.ok && removed.error.code !== "not_found") throw new Error(`run ${run_id}: ${removed.error.message}`);
      this.store.removed(run_id);
    }
  }

  async #tellRegistry(head: ScheduleHead): Promise<void> {
    const { version, state, team } = head;
    await scheduleIndexStub(this.env, team).projectSchedule({
      name: state.name,
      version,
      wake_at: this.#watchedFrom(head),
      facts: this.#factsOf(head),
    });
  }

  /** While something is at work the watchdog looks each time: its looks are further apart than the object's own. */
  #watchedFrom({ state }: ScheduleHead): number | null {
    if (state.active !== null || state.waiting.length > 0 || this.#drift.wakeAt() !== null) return 0;
    return state.paused === null ? (nextDues(state.definition, state.anchor, state.decided, 1)[0] ?? null) : null;
  }

  #factsOf({ state }: ScheduleHead): ScheduleFacts {
    const { name, id, definition, creator, created_at, updated_at, paused, active, waiting, pin, env_digest, anchor, decided } = state;
    const work =
      active === null
        ? null
        : {
            due: active.order.due,
            run_id: active.run_id,
            since: active.since,
            cancel: active.cancel,
            ...(active.failure === undefined ? {} : { failure: active.failure }),
          };
    const [last = null] = this.store.series(1);
    const [missed = null] = this.store.events(1, "schedule.missed");
    return {
      name,
      id,
      definition,
      created_by: creator.user,
      created_at,
      updated_at,
      paused,
      active: work,
      waiting,
      pin,
      env_digest,
      last,
      missed,
      anchor,
      decided,
    };
  }

  #viewOf(head: ScheduleHead): ScheduleView {
    return { ...this.#factsOf(head), series: this.store.series(SHOWN), events: this.store.events(SHOWN), drift: this.#driftFacts() };
  }

  #driftFacts(): DriftFacts | null {
    const { state } = this.#drift;
    if (state === null) return null;
    const { baseline, since, settings, course, began, judged, waiting } = state;
    return { baseline, since, settings, verdict: course.verdict, began, judged: judged.length, waiting: waiting.length };
  }
}

/** What one step leaves to be done. */
interface Decided {
  readonly team: string;
  readonly schedule: string;
  readonly actions: readonly Action[];
  /** The run that is to be compared now. */
  readonly compare: string | null;
}

/** What lists show of it that no note tells: looks at a run are not told. */
const shownOf = ({ definition, paused, active, waiting, decided }: ScheduleHead["state"]): string =>
  canonicalJson({
    definition,
    paused,
    waiting,
    decided,
    active: active === null ? null : { due: active.order.due, run_id: active.run_id, cancel: active.cancel },
  } as never);
