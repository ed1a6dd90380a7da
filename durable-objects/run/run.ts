import { bootOf, type Env, isLocal, queueCount, runtimeOf } from "../../src/env.ts";
import { fail, failureOf, ok, type Result } from "../../src/errors/result.ts";
import { count } from "../../src/operations.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import { runName } from "../../src/teams/team-name.ts";
import type { RunReport } from "../monitor/monitor-control.ts";
import { runNumbers, runTiming } from "../timing.ts";
import { Waking } from "../waking.ts";
import type { ColumnsPage, ColumnsRequest, ExamplePlaces, PinnedInputs, ScanPage } from "./reading/cells-protocol.ts";
import { ColumnPages } from "./reading/columns.ts";
import { examplePlaces, pinnedInputs } from "./reading/example-places.ts";
import { committedSince } from "./reading/committed.ts";
import type { RunContext } from "./state/context.ts";
import type { CommittedPage, CreateRequest, HubPushOutcome, ResumeRequest, Resumed, RunControl, RunUploads, RunView, SamplePage } from "./control.ts";
import type { StoredEvent } from "../../src/logging/stored-event.ts";
import { type Heartbeat, isNews } from "./sending/heartbeat.ts";
import { isReportNews } from "./sending/monitor-report.ts";
import { Watchers } from "./sending/watchers.ts";
import { announce, hasAnnouncements } from "./sending/announcing.ts";
import type { Outbox } from "./sending/outbox.ts";
import type * as P from "./protocol.ts";
import type * as Pushed from "./pushed/pushed-protocol.ts";
import type { PushedChanges } from "../../src/pushed/pushed-facts.ts";
import { doneBeforeInTurns } from "./course/done-before.ts";
import { referencedSegments } from "./course/referenced.ts";
import { removeObjects, sweepOrphans } from "./course/removal.ts";
import { countedInTurns, debtsMark } from "./course/owed.ts";
import { metadataAge, metadataOf } from "./reading/run-metadata.ts";
import { FilePages } from "./reading/file-pages.ts";
import { firstErrorsOf } from "./reading/first-errors.ts";
import { LivePrefix } from "./reading/live.ts";
import { RowTally } from "./reading/row-tally.ts";
import type { ErrorPlace, MetricDistribution } from "./reading/row-answers.ts";
import { scanPage } from "./reading/scan.ts";
import { pageOf } from "./reading/samples.ts";
import { jobObjects, sweepJobs } from "./batching/sweeping.ts";
import type { BatchExecution } from "./batching/batching-protocol.ts";
import { GONE, RunForExecutors } from "./for-executors.ts";
import type { RunHead } from "./state/head.ts";
import { SqlLedger } from "./state/sql-ledger.ts";
import type { SteerRequest } from "./steering/steer-request.ts";
import { isDue, sampled } from "./timeline/sampling.ts";
import type { Samples } from "./timeline/samples.ts";
import { TimelineRecord } from "./timeline/timeline-record.ts";
import { type Answer, create, type Request, transit, type TransitionName } from "./transition.ts";
import { uploadsOf } from "./reading/uploads.ts";
import { viewOf } from "./reading/view.ts";
import { removalWait, sweepDue } from "./course/sweep.ts";
import { ALARM_LOST_MS, nextWake } from "./sending/wake.ts";

const NO_RUN = fail("not_found", "There is no such run.");
/** How often what a resume owes is counted, where the run changes meanwhile. */
const COUNTS = 3;
/** As it is before the code of an environment runs in this isolate. */
const platformFetch = fetch;

/**
 * One evaluation: everything that must be true of it, and nothing large. Each method loads, lets a pure transition decide
 * (transition.ts) in one transaction, and sends what the transition left to be sent.
 */
export class Run extends RunForExecutors implements P.RunExecution, Pushed.IntakeExecution, BatchExecution, RunControl, Pushed.PushControl {
  readonly #ledger: SqlLedger;
  readonly #files: FilePages;
  readonly #live = new LivePrefix();
  readonly #columns: ColumnPages;
  readonly #tally = new RowTally();
  readonly #timeline: TimelineRecord;
  readonly #waking: Waking;
  readonly #watchers: Watchers;
  #metadata: { value: Record<string, unknown>; seq: number; at: number } | null = null;
  /** The next of it, for all who ask meanwhile. */
  #writing: Promise<Record<string, unknown> | null> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#ledger = new SqlLedger(ctx.storage.sql);
    this.#files = new FilePages(this.#ledger);
    this.#columns = new ColumnPages(ctx.storage.sql, this.#ledger);
    this.#timeline = new TimelineRecord(ctx.storage.sql);
    this.#waking = new Waking(ctx.storage);
    this.#watchers = new Watchers(env, (url, init) => platformFetch(url, init));
  }

  async prepared(request: P.PreparedRequest): Promise<P.Ack> {
    const before = this.#alive() ? await doneBeforeInTurns(this.#ledger, this.#pause) : null;
    return this.transit("prepared", { ...request, before }) ?? GONE;
  }
  async pushBatch(request: Pushed.BatchRequest): Promise<Result<Pushed.BatchAnswer>> {
    return this.transit("pushBatch", request) ?? NO_RUN;
  }
  async describePushed(changes: PushedChanges): Promise<Result<null>> {
    return this.transit("describePushed", changes) ?? NO_RUN;
  }
  async closePushed(request: Pushed.ClosingRequest): Promise<Result<null>> {
    return this.transit("closePushed", request) ?? NO_RUN;
  }

  async create(request: CreateRequest): Promise<Result<RunView>> {
    const created = this.#transaction(() => {
      if (!this.#ledger.exists()) this.#ledger.migrate();
      const outbox = create(this.#ledger, request, this.#context());
      if (outbox.ok) this.#setAlarm(this.#ledger.head());
      return outbox;
    });
    if (!created.ok) return created;
    this.ctx.waitUntil(this.#send(created.value));
    if (created.value.report !== undefined) this.ctx.waitUntil(this.#report(created.value.report));
    return this.#answerView();
  }
  async view(): Promise<RunView | null> {
    return this.#view();
  }
  async events(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#alive() ? this.#ledger.eventsAfter(after, limit) : [];
  }
  async committed(after: number, bytes: number): Promise<CommittedPage | null> {
    return this.#alive() ? committedSince(this.#ledger, after, bytes) : null;
  }
  async samples(offset: number, limit: number, open = false): Promise<SamplePage | null> {
    return this.#alive() ? await pageOf(this.#ledger, this.#files, { offset, limit, open }, this.#pause) : null;
  }
  async columns(request: ColumnsRequest): Promise<ColumnsPage | null> {
    return this.#alive() ? this.#columns.page(request) : null;
  }
  async examplePlaces(examples: readonly number[]): Promise<ExamplePlaces | null> {
    return this.#alive() ? await examplePlaces(this.#ledger, this.#files, examples, this.#pause) : null;
  }
  async scan(from: number, bytes: number): Promise<ScanPage | null> {
    return this.#alive() ? scanPage(this.ctx.storage.sql, this.#ledger, from, bytes) : null;
  }
  async pinnedInputs(): Promise<PinnedInputs | null> {
    return this.#alive() ? pinnedInputs(this.#ledger) : null;
  }
  async distribution(metric: string, bins: number): Promise<MetricDistribution | { readonly metrics: readonly string[] } | null> {
    const values = this.#alive() ? await this.#tally.look(this.#ledger, this.#pause, steadyNow) : null;
    return values === null ? null : (values.distribution(metric, bins) ?? { metrics: values.metrics });
  }
  async firstErrors(): Promise<readonly ErrorPlace[] | null> {
    const values = this.#alive() ? await this.#tally.look(this.#ledger, this.#pause, steadyNow) : null;
    return values === null ? null : firstErrorsOf(this.#ledger, values);
  }
  async timeline(): Promise<Samples | "none" | null> {
    return this.#alive() ? (this.#timeline.get() ?? "none") : null;
  }
  async logTail(limit: number): Promise<readonly StoredEvent[] | null> {
    return this.#alive() ? this.#ledger.logTail(limit) : null;
  }
  async cancel(): Promise<Result<RunView>> {
    return this.#decide(this.transit("cancel", null));
  }
  async interrupt(): Promise<Result<RunView>> {
    return this.#decide(this.transit("interrupt", null));
  }
  async steer(request: SteerRequest): Promise<Result<RunView>> {
    return this.#decide(this.transit("steer", request));
  }
  async share(digest: string | null): Promise<Result<RunView>> {
    return this.#decide(this.transit("share", digest));
  }
  async hubPushed(outcome: HubPushOutcome): Promise<void> {
    this.transit("hubPushed", outcome);
  }
  async resume(request: ResumeRequest): Promise<Result<Resumed>> {
    for (let attempts = 1; ; attempts++) {
      const counted = this.#alive() ? await countedInTurns(this.#ledger, this.#pause) : null;
      const answer = this.transit("resume", { ...request, counted }) ?? NO_RUN;
      // Leases that were over ended first, which is a change.
      const head = counted === null || answer.ok || attempts === COUNTS ? null : this.#ledger.head();
      if (head === null || counted?.mark === debtsMark(head)) return answer;
    }
  }
  async poke(): Promise<void> {
    await this.#lookAtAlarm();
    if (this.#alive()) this.transit("poke", null);
    else await this.#goOnRemoving();
  }
  async metadata(): Promise<Record<string, unknown> | null> {
    const head = this.#alive() ? this.#ledger.head() : null;
    if (head === null) return null;
    const known = this.#metadata;
    const age = metadataAge(head.done);
    const fresh = known !== null && (known.seq === head.seq || (head.phase !== "settled" && head.phase !== "finalising" && steadyNow() - known.at < age));
    if (fresh) return known.value;
    this.#writing ??= this.#readMetadata(head.seq).finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }
  async uploads(): Promise<RunUploads> {
    const head = this.#alive() ? this.#ledger.head() : null;
    return head === null ? { digests: [], manifest: null } : uploadsOf(this.#ledger.config(), head);
  }
  async remove(): Promise<Result<null>> {
    const view = this.#view();
    if (view === null) return ok(await this.#goOnRemoving());
    const idle = view.phase === "settled" || (view.suspended && this.#ledger.tickets().length === 0);
    if (!idle) return fail("run_busy", "The run is still working, or writing its results.", "Cancel it first; then try again.");
    this.#transaction(() => {
      this.#ledger.bury();
      void this.ctx.storage.setAlarm(Date.now());
    });
    return ok(null);
  }

  override async alarm(): Promise<void> {
    count("do_requests");
    this.#waking.forget();
    if (!this.#ledger.exists()) return;
    if (this.#ledger.isBuried()) return this.#removeSlice();
    this.transit("wake", null);
    const head = this.#ledger.head();
    const due = head === null ? null : sweepDue(head, runTiming(this.env));
    if (head !== null && due !== null && steadyNow() >= due) await this.#sweep(head.epoch);
  }

  async #sweep(epoch: number): Promise<void> {
    const config = this.#ledger.config();
    let failed = false;
    try {
      await sweepOrphans(this.env.BUCKET, config, epoch, (after, limit) =>
        referencedSegments(this.#ledger, this.#ledger.pieceSegments(), { after, limit }, this.#pause),
      );
      const jobs = this.#ledger.batching.jobs();
      if (jobs.length > 0) await sweepJobs(this.env.BUCKET, config, epoch, jobObjects(jobs));
    } catch (thrown) {
      // The platform repeats an alarm that throws a few times, and then never again.
      failed = true;
      console.warn(`run ${runName(config)}: segments not swept, tried again later: ${failureOf(thrown).message}`);
    }
    this.transit("swept", { epoch, failed });
  }

  /** Of a deleted run whose alarm was lost. */
  async #goOnRemoving(): Promise<null> {
    if (this.#ledger.exists() && this.#ledger.isBuried() && (await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now());
    return null;
  }

  async #removeSlice(): Promise<void> {
    const config = this.#ledger.config();
    const outcome = await removeObjects(this.env, config);
    const wait = removalWait(outcome, outcome === "failed" ? this.#ledger.failRemoval() : 0);
    if (wait !== null) return this.ctx.storage.setAlarm(Date.now() + wait);
    await this.ctx.storage.deleteAll();
    // The id may be used again while this instance lives.
    this.#ledger.forgetCached();
    this.#timeline.forget();
    this.vitals.clear();
    this.#columns.forget();
    this.#metadata = null;
  }

  async #readMetadata(seq: number): Promise<Record<string, unknown> | null> {
    const value: Record<string, unknown> | null = await metadataOf(this.#ledger, this.#pause);
    if (value !== null) this.#metadata = { value, seq, at: steadyNow() };
    return value;
  }

  /** Lets other calls have their turn; says whether the run is still there afterwards. */
  readonly #pause = async (): Promise<boolean> => {
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    return this.#alive();
  };

  #context(): RunContext {
    return {
      now: steadyNow(),
      boot: bootOf(this.env),
      runtime: runtimeOf(this.env),
      ...runNumbers(this.env),
      ...(isLocal(this.env) ? { executors: queueCount(this.env) } : {}),
    };
  }

  #alive(): boolean {
    return this.#ledger.exists() && !this.#ledger.isBuried();
  }

  #view(): RunView | null {
    const head = this.#alive() ? this.#ledger.head() : null;
    if (head === null) return null;
    const live = new Set(this.#ledger.tickets().map((ticket) => ticket.epoch));
    return viewOf(this.#ledger, head, this.vitals.sum(live), this.#context(), this.#live.look(this.#ledger, head));
  }

  #answerView(): Result<RunView> {
    const view = this.#view();
    return view === null ? NO_RUN : ok(view);
  }

  #decide(answer: Result<null> | null): Result<RunView> {
    if (answer === null) return NO_RUN;
    return answer.ok ? this.#answerView() : answer;
  }

  /** One transition in one transaction, the alarm included; null when there is no such run, and then nothing is written. */
  protected override readonly transit = <N extends TransitionName>(name: N, request: Request<N>): Answer<N> | null => {
    if (!this.#alive()) return null;
    const done = this.#transaction(() => {
      const result = transit(this.#ledger, name, request, this.#context());
      const head = this.#ledger.head();
      if (head !== null) this.#takeSample(head);
      this.#setAlarm(head);
      return result;
    });
    if (done === null) return null;
    if (hasAnnouncements(done.outbox)) this.ctx.waitUntil(this.#send(done.outbox));
    if (done.outbox.heartbeat !== null) this.ctx.waitUntil(this.#sendHeartbeat(done.outbox.heartbeat));
    if (done.outbox.report !== undefined) this.ctx.waitUntil(this.#report(done.outbox.report));
    return done.answer;
  };

  #transaction<T>(change: () => T): T {
    try {
      return this.ctx.storage.transactionSync(change);
    } catch (thrown) {
      this.#ledger.forgetCached();
      this.#timeline.forget();
      this.#live.forget();
      this.#waking.forget();
      throw thrown;
    }
  }

  /** An alarm that was lost is set again, one that is there is not written anew. */
  async #lookAtAlarm(): Promise<void> {
    const set = await this.ctx.storage.getAlarm();
    if (set !== null && set > Date.now() - ALARM_LOST_MS) this.#waking.isStoredFor(set);
    else this.#waking.forget();
  }

  /** How the run stands, from time to time; in the transaction of whatever happened last. */
  #takeSample(head: RunHead): void {
    if (!this.#timeline.isOurs) return;
    const now = steadyNow();
    const taken = this.#timeline.get();
    if (!isDue(taken, head, now)) return;
    const live = new Set(this.#ledger.tickets().map((ticket) => ticket.epoch));
    const vitals = live.size === 0 || this.vitals.knows(live) ? this.vitals.sum(live) : null;
    const standing = { config: this.#ledger.config(), vitals, live: this.#live.look(this.#ledger, head) };
    const samples = sampled(taken, head, standing, now);
    if (samples !== null) this.#timeline.put(samples);
  }

  #setAlarm(head: RunHead | null): void {
    const wake = head === null ? null : nextWake(head, this.#ledger.tickets(), runTiming(this.env));
    if (wake !== null && this.#waking.by(wake)) count("do_rows_written");
  }

  /** What nobody took is not sent again, but for the last one after a crash: the next one says as much. */
  async #sendHeartbeat(heartbeat: Heartbeat): Promise<void> {
    const { heartbeat_url } = this.#ledger.config();
    const outcome = heartbeat_url === undefined ? null : await this.#watchers.heartbeat(heartbeat_url, heartbeat);
    const head = this.#alive() ? this.#ledger.head() : null;
    if (outcome !== null && head !== null && isNews(head, outcome)) this.transit("heartbeat", outcome);
  }

  /** What the monitor has not heard of the end is said again by the alarm. */
  async #report(report: RunReport): Promise<void> {
    const { monitor } = this.#ledger.config();
    const outcome = monitor === undefined ? null : await this.#watchers.report(monitor.id, report);
    if (outcome !== null && isReportNews(outcome)) this.transit("reported", outcome);
  }

  /** Sends what is due; what is not acknowledged is sent again by the alarm. */
  #send(outbox: Outbox): Promise<void> {
    return announce(this.env, this.#ledger.config(), outbox, {
      view: () => this.#view(),
      offered: (seq) => void this.transit("offered", seq),
      projected: (version) => void this.transit("projected", version),
      alertsTold: (ids) => void this.transit("alertsTold", ids),
      projectedAndTold: (version, told) => void this.transit("projectedAndTold", { version, told }),
    });
  }
}
