import { type Env, isLocal } from "../../src/env.ts";
import { EdgewiseError, fail, type Result } from "../../src/errors/result.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import { UPLOAD_GRACE_MS } from "../../src/limits.ts";
import { DAY_MS } from "../../src/teams/retention.ts";
import type { TeamOf } from "../../src/teams/team-name.ts";
import type {
  InUse,
  LimitChanges,
  LimitFacts,
  RegistryControl,
  Reservation,
  RunStanding,
  ListedRun,
  ReserveRequest,
  ResumeAdmission,
  RunProjection,
  SweepRequest,
  SweepTurn,
  UploadAdmission,
} from "./registry-control.ts";
import type { AuditEnd, AuditEntry, NewAuditEntry } from "./audit-control.ts";
import { AuditStore } from "./audit-store.ts";
import { BudgetRegistry } from "./budgets/budget-registry.ts";
import type { StoredBaseline } from "./baselines/baseline-control.ts";
import { BaselineStore } from "./baselines/baseline-store.ts";
import type { EndpointWrite, StoredEndpoint } from "./endpoint-control.ts";
import { EndpointStore } from "./endpoint-store.ts";
import { ListChanges } from "./lists/list-changes.ts";
import type { RunListQuery } from "./lists/list-query.ts";
import type { NamedDataset, NamedRevision } from "./named-dataset-control.ts";
import { NamedDatasetStore } from "./named-dataset-store.ts";
import { MonitorIndex } from "./monitors/monitor-index.ts";
import type { MonitorIndexControl, MonitorProjection } from "./monitors/monitor-index-control.ts";
import type { MonitorFacts } from "../monitor/monitor-control.ts";
import type { PublishedCode, PublishedEnvironment, PublishRequest } from "./published/published-control.ts";
import { PublishedStore } from "./published/published-store.ts";
import type { Visibility } from "../../src/published/published-name.ts";
import { RegistryStore } from "./registry-store.ts";
import { RetentionStore } from "./retention-store.ts";
import { EvaluatorIndex, ScheduleIndex } from "./schedules/schedule-index.ts";
import type { EvaluatorIndexControl, EvaluatorProjection, ScheduleIndexControl, ScheduleProjection } from "./schedules/schedule-index-control.ts";
import type { EvaluatorFacts } from "../evaluator/evaluator-control.ts";
import type { ScheduleFacts } from "../schedule/schedule-control.ts";
import { TeamBudget } from "./team-budget.ts";
import { UploadStore } from "./upload-store.ts";
import { UploadSweep } from "./upload-sweep.ts";

/** Entries of the audit that one turn removes. */
const MOST_ENTRIES = 1_000;

/** Knows which runs a team has; nothing that happens inside a run passes through it. */
export class Registry extends BudgetRegistry implements RegistryControl, ScheduleIndexControl, MonitorIndexControl, EvaluatorIndexControl {
  readonly #changes = new ListChanges();
  readonly #opened: Result<RegistryStore>;
  readonly #uploads: UploadSweep;
  readonly #audited: AuditStore;
  readonly #named: EndpointStore;
  readonly #held: BaselineStore;
  readonly #datasets: NamedDatasetStore;
  readonly #environments: PublishedStore;
  readonly #clocked: ScheduleIndex;
  readonly #trained: EvaluatorIndex;
  readonly #watched: MonitorIndex;
  readonly #counted: TeamBudget;
  readonly #retained: RetentionStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#counted = new TeamBudget(ctx.storage, isLocal(this.env));
    this.#opened = RegistryStore.open(ctx.storage, this.#counted);
    this.#audited = new AuditStore(ctx.storage);
    this.#retained = new RetentionStore(ctx.storage, this.#audited);
    this.#named = new EndpointStore(ctx.storage);
    this.#held = new BaselineStore(ctx.storage);
    this.#datasets = new NamedDatasetStore(ctx.storage);
    this.#environments = new PublishedStore(ctx.storage);
    this.#clocked = new ScheduleIndex(ctx.storage);
    this.#trained = new EvaluatorIndex(ctx.storage);
    this.#watched = new MonitorIndex(ctx.storage);
    this.#uploads = new UploadSweep(new UploadStore(ctx.storage), this.#counted.use, this.#datasets, [this.#clocked, this.#trained], this.env);
  }

  async noteAudit(entry: NewAuditEntry): Promise<number> {
    return this.#audit().note(entry);
  }
  async endAudit(end: AuditEnd): Promise<void> {
    this.#audit().end(end);
  }
  async listAudit(after: number, limit: number, newestFirst = false): Promise<readonly AuditEntry[]> {
    return newestFirst ? this.#audit().before(after, limit) : this.#audit().after(after, limit);
  }

  async endpoint(id: string): Promise<StoredEndpoint | null> {
    return this.#endpoints().find(id);
  }
  async listEndpoints(): Promise<readonly StoredEndpoint[]> {
    return this.#endpoints().all();
  }
  async writeEndpoints(write: EndpointWrite): Promise<Result<readonly StoredEndpoint[]>> {
    return this.#endpoints().write(write, steadyNow());
  }
  async deleteEndpoint(id: string): Promise<boolean> {
    return this.#endpoints().remove(id);
  }

  async baseline(name: string): Promise<StoredBaseline | null> {
    return this.#baselines().find(name);
  }
  async listBaselines(): Promise<readonly StoredBaseline[]> {
    return this.#baselines().all();
  }
  async putBaseline(put: { readonly name: string; readonly run_id: string; readonly user: string }): Promise<Result<StoredBaseline>> {
    if (!this.#store().has(put.run_id)) return fail("not_found", `Evaluation ${put.run_id} not found.`);
    return this.#baselines().put(put, steadyNow());
  }
  async deleteBaseline(name: string): Promise<boolean> {
    return this.#baselines().remove(name);
  }

  async reserveSchedule(name: string): Promise<Result<null>> {
    return this.#schedules().reserve(name, Date.now());
  }
  async projectSchedule(projection: ScheduleProjection): Promise<void> {
    this.#schedules().project(projection);
  }
  async listSchedules(): Promise<readonly ScheduleFacts[]> {
    return this.#schedules().all();
  }
  async dueSchedules(before: number, most: number): Promise<readonly string[]> {
    return this.#schedules().due(before, most);
  }
  async forgetSchedule({ name, deleted }: { readonly name: string; readonly deleted: boolean }): Promise<void> {
    this.#schedules().forget(name, deleted, Date.now());
  }

  async reserveMonitor(name: string): Promise<Result<{ readonly id: string }>> {
    return this.#monitors().reserve(name, Date.now());
  }
  async monitorId(name: string): Promise<string | null> {
    return this.#monitors().id(name);
  }
  async projectMonitor(projection: MonitorProjection): Promise<void> {
    this.#monitors().project(projection);
  }
  async listMonitors(): Promise<readonly MonitorFacts[]> {
    return this.#monitors().all();
  }
  async dueMonitors(before: number, most: number): Promise<readonly { readonly name: string; readonly id: string }[]> {
    return this.#monitors().due(before, most);
  }
  async forgetMonitor({ name, id, deleted }: { readonly name: string; readonly id: string; readonly deleted: boolean }): Promise<void> {
    this.#monitors().forget(name, id, deleted, Date.now());
  }
  async notePulse(): Promise<void> {
    this.#monitors().notePulse(Date.now());
  }
  async heardFrom(): Promise<number> {
    return this.#monitors().heardFrom(Date.now());
  }

  async reserveEvaluator(name: string): Promise<Result<null>> {
    return this.#evaluators().reserve(name, Date.now());
  }
  async projectEvaluator(projection: EvaluatorProjection): Promise<void> {
    this.#evaluators().project(projection);
  }
  async listEvaluators(): Promise<readonly EvaluatorFacts[]> {
    return this.#evaluators().all();
  }
  async dueEvaluators(before: number, most: number): Promise<readonly string[]> {
    return this.#evaluators().due(before, most);
  }
  async forgetEvaluator({ name, deleted }: { readonly name: string; readonly deleted: boolean }): Promise<void> {
    this.#evaluators().forget(name, deleted, Date.now());
  }

  async namedDataset(name: string): Promise<NamedDataset | null> {
    return this.#namedDatasets().find(name);
  }
  async listNamedDatasets(): Promise<readonly NamedDataset[]> {
    return this.#namedDatasets().all();
  }
  async putNamedDataset({ name, revision }: { readonly name: string; readonly revision: NamedRevision }): Promise<Result<NamedDataset>> {
    return this.#namedDatasets().put(name, revision);
  }
  async deleteNamedDataset(name: string): Promise<boolean> {
    return this.#namedDatasets().remove(name);
  }

  async publishedEnvironment(name: string): Promise<PublishedEnvironment | null> {
    return this.#published().find(name);
  }
  async listPublished(): Promise<readonly PublishedEnvironment[]> {
    return this.#published().all();
  }
  async mayPublish(request: PublishRequest): Promise<Result<null>> {
    return this.#published().may(request);
  }
  async beginPush(request: PublishRequest): Promise<Result<null>> {
    return this.#published().begin(request);
  }
  async publish(request: PublishRequest): Promise<Result<PublishedEnvironment>> {
    return this.#published().publish(request);
  }
  async changeVisibility({ name, visibility }: { readonly name: string; readonly visibility: Visibility }): Promise<Result<PublishedEnvironment>> {
    return this.#published().show(name, visibility, steadyNow());
  }
  async deletePublished({ name, version, now }: { readonly name: string; readonly version: string | null; readonly now: number }): Promise<Result<number>> {
    return this.#published().remove(name, version, now);
  }
  async codeToRemove(before: number, most: number): Promise<readonly PublishedCode[]> {
    return this.#published().toRemove(before, most);
  }
  async forgetCode(removed: readonly PublishedCode[]): Promise<void> {
    this.#published().forget(removed);
  }

  async reserve(request: ReserveRequest): Promise<Result<Reservation>> {
    if (!this.#opened.ok) return this.#opened;
    if (request.uploads !== undefined && request.uploads.length > 0) await this.#uploads.use(request.uploads, steadyNow(), UPLOAD_GRACE_MS);
    return this.#opened.value.reserve(request);
  }

  async standing(runId: string): Promise<RunStanding> {
    return this.#retention().standing(runId);
  }
  async keep(runId: string, kept: boolean): Promise<Result<RunStanding>> {
    this.#changes.note();
    return this.#retention().keep(runId, kept);
  }
  async retain({ most, ...team }: TeamOf & { readonly most: number }): Promise<readonly string[]> {
    const { retention_days, audit_days } = this.#budget().limitsOf(team);
    const now = steadyNow();
    if (audit_days !== null) this.#audited.prune(now - audit_days * DAY_MS, MOST_ENTRIES, now);
    return this.#retained.turn(retention_days, most, now);
  }
  async admitResume(request: ResumeAdmission): Promise<Result<number>> {
    return this.#budget().admitResume(request);
  }
  async withdrawResume(runId: string): Promise<void> {
    this.#budget().use.withdraw(runId);
  }
  async admitUpload(request: UploadAdmission): Promise<Result<null>> {
    return this.#budget().admitUpload(request);
  }
  async dropUpload(digest: string): Promise<void> {
    this.#budget().use.dropUpload(digest);
  }
  async limits(team: TeamOf): Promise<LimitFacts> {
    return this.#budget().facts(team, steadyNow());
  }
  async setLimits(team: TeamOf, changes: LimitChanges): Promise<LimitFacts> {
    this.ctx.storage.transactionSync(() => {
      const before = this.#budget().limitsOf(team).retention_days;
      this.#budget().set(changes);
      if (this.#budget().limitsOf(team).retention_days !== before) this.#retained.beginAnew();
    });
    return this.limits(team);
  }

  async release(runId: string): Promise<void> {
    this.#store().release(runId);
    if (!this.#store().has(runId)) this.runSecrets.forget(runId);
  }

  async has(runId: string): Promise<boolean> {
    return this.#store().has(runId);
  }

  async project(projection: RunProjection): Promise<void> {
    // Whatever version it is of: what a run had for one generation, no later one needs.
    if (projection.settled) this.runSecrets.settled(projection.run_id, projection.generation ?? Number.MAX_SAFE_INTEGER);
    if (this.#store().project(projection)) this.#changes.note();
  }

  async list(query: RunListQuery): Promise<{ readonly runs: readonly ListedRun[]; readonly total: number }> {
    return this.#store().list(query);
  }

  async listChanges(): Promise<string> {
    return this.#changes.text;
  }

  async turn(limit: number): Promise<readonly string[]> {
    this.runSecrets.sweep(steadyNow());
    return this.#store().watch.turn(limit, steadyNow());
  }

  async forget(runId: string): Promise<void> {
    this.#changes.note();
    const store = this.#store();
    this.ctx.storage.transactionSync(() => {
      this.#retained.gone(runId, steadyNow());
      store.remove(runId);
    });
    this.runSecrets.forget(runId);
  }

  async keepUploads(digests: readonly string[]): Promise<void> {
    await this.#sweep().use(digests, steadyNow(), UPLOAD_GRACE_MS);
  }

  async sweepUploads(request: SweepRequest): Promise<SweepTurn> {
    return this.#sweep().turn(request, steadyNow());
  }

  async markUploads(inUse: InUse): Promise<void> {
    this.#sweep().mark(inUse, steadyNow());
  }

  protected opened(): void {
    this.#store();
  }

  #audit(): AuditStore {
    this.#store();
    return this.#audited;
  }

  #endpoints(): EndpointStore {
    this.#store();
    return this.#named;
  }

  #baselines(): BaselineStore {
    this.#store();
    return this.#held;
  }

  #schedules(): ScheduleIndex {
    this.#store();
    return this.#clocked;
  }

  #monitors(): MonitorIndex {
    this.#store();
    return this.#watched;
  }

  #evaluators(): EvaluatorIndex {
    this.#store();
    return this.#trained;
  }

  #namedDatasets(): NamedDatasetStore {
    this.#store();
    return this.#datasets;
  }

  #published(): PublishedStore {
    this.#store();
    return this.#environments;
  }

  #retention(): RetentionStore {
    this.#store();
    return this.#retained;
  }

  #budget(): TeamBudget {
    this.#store();
    return this.#counted;
  }

  #sweep(): UploadSweep {
    this.#store();
    return this.#uploads;
  }

  #store(): RegistryStore {
    if (this.#opened.ok) return this.#opened.value;
    const { code, message, hint } = this.#opened.error;
    throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
  }
}
