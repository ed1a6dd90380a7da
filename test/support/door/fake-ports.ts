import type { AuditEnd, AuditEntry, NewAuditEntry } from "../../../durable-objects/registry/audit-control.ts";
import type { NamedDataset, NamedRevision } from "../../../durable-objects/registry/named-dataset-control.ts";
import type { EndpointWrite, StoredEndpoint } from "../../../durable-objects/registry/endpoint-control.ts";
import type {
  CommittedRows,
  CreateRequest,
  OpenRollouts,
  ResumeRequest,
  RunControl,
  RunView,
  SamplePage,
  SamplePlace,
  SteerRequest,
} from "../../../durable-objects/run/control.ts";
import type {
  LimitFacts,
  RegistryControl,
  Reservation,
  ReserveRequest,
  ResumeAdmission,
  RunProjection,
  RunStanding,
} from "../../../durable-objects/registry/registry-control.ts";
import type { PushControl } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";
import { createApp } from "../../../src/api/app.ts";
import type { AccessDoor } from "../../../src/api/access/cloudflare-access.ts";
import type { AppFacts, AppPorts } from "../../../src/api/app-ports.ts";
import { DEFAULT_KEY_VARS } from "../../../src/config/endpoints/key-vars.ts";
import type { EnvironmentFacts } from "../../../src/api/creation/resolve.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { type Failure, fail, ok, type Result } from "../../../src/errors/result.ts";
import { limitsOfTeam } from "../../../src/teams/limits.ts";
import { drawMasterKey, masterKeysOf } from "../../../src/secrets/master-keys.ts";
import { DEFAULT_TEAM } from "../../../src/teams/team-name.ts";
import { MemoryStore } from "../run/memory-store.ts";
import { CONFIG, viewFor } from "./run-view.ts";
import { FakeReading } from "./fake-reading.ts";
import type { FakeLimiter } from "./fake-limiter.ts";
import { FakeBudget, FakeBudgets } from "./fake-budgets.ts";
import { FakeDesk } from "./fake-desk.ts";
import { FakeDirectory } from "./fake-directory.ts";
import { DIGEST_OF_CODE, environmentPorts, ENVIRONMENTS } from "./fake-environments.ts";

export { CONFIG, viewFor };

/** Everything the HTTP door stands on, in memory: its rules are tested without the platform. */

const NOTHING_BY_THE_CLOCK = { schedules: null, monitors: null, alerts: null, evaluators: null };
export class FakeRun extends FakeReading implements RunControl {
  state: RunView | null = null;
  stored: StoredEvent[] = [];
  commits: CommittedRows[] = [];
  /** Of its done units, in unit order. */
  places: SamplePlace[] = [];
  creations: CreateRequest[] = [];
  resumes: ResumeRequest[] = [];
  cancels = 0;
  interrupts = 0;
  steered: SteerRequest[] = [];
  /** What `create` answers instead of creating. */
  refusal: Failure | null = null;
  /** `create` works, and its answer never arrives. */
  losesAnswer = false;

  async create(request: CreateRequest): Promise<Result<RunView>> {
    this.creations.push(request);
    if (this.refusal !== null) return { ok: false, error: this.refusal };
    if (this.state !== null) return fail("illegal_transition", "The run exists.");
    this.state = viewFor(request.config, { status: "PENDING", phase: "preparing" });
    if (this.losesAnswer) throw new Error("connection lost");
    return ok(this.state);
  }
  async view(): Promise<RunView | null> {
    return this.state;
  }
  async events(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.stored.filter(({ seq }) => seq > after).slice(0, limit);
  }
  async committed(after: number): Promise<{ commits: readonly CommittedRows[]; next: number; more: boolean } | null> {
    if (this.state === null) return null;
    const commits = this.commits.filter(({ seq }) => seq > after);
    return { commits, next: commits.at(-1)?.seq ?? after, more: false };
  }
  /** What follows the rows where it is asked for. */
  open: OpenRollouts | null = null;
  async samples(offset: number, limit: number, open = false): Promise<SamplePage | null> {
    if (this.state === null) return null;
    const rows = this.places.flatMap((place) => Array.from({ length: place.rows }, (_, row) => ({ place, row })));
    const page = rows.slice(offset, offset + limit);
    return {
      total: rows.length,
      skip: page[0]?.row ?? 0,
      count: page.length,
      places: [...new Set(page.map(({ place }) => place))],
      ...(open && this.open !== null ? { open: this.open } : {}),
    };
  }
  async logTail(limit: number): Promise<readonly StoredEvent[] | null> {
    return this.state === null ? null : this.stored.filter(({ type }) => type === "log").slice(-limit);
  }
  async cancel(): Promise<Result<RunView>> {
    this.cancels++;
    return this.state === null ? fail("not_found", "Evaluation not found.") : ok(this.state);
  }
  async steer(request: SteerRequest): Promise<Result<RunView>> {
    this.steered.push(request);
    return this.state === null ? fail("not_found", "Evaluation not found.") : ok(this.state);
  }
  async interrupt(): Promise<Result<RunView>> {
    this.interrupts++;
    return this.state === null ? fail("not_found", "Evaluation not found.") : ok(this.state);
  }
  async share(digest: string | null): Promise<Result<RunView>> {
    if (this.state === null) return fail("not_found", "Evaluation not found.");
    const { link_digest: _, ...rest } = this.state;
    this.state = digest === null ? rest : { ...rest, link_digest: digest };
    return ok(this.state);
  }
  async resume(request: ResumeRequest): Promise<Result<{ owed_rollouts: number; warnings: readonly string[] }>> {
    this.resumes.push(request);
    const { max_cost } = request;
    if (this.state !== null && max_cost !== null && max_cost !== undefined) {
      this.state = { ...this.state, generation: this.state.generation + 1, config: { ...this.state.config, max_cost } };
    }
    return ok({ owed_rollouts: 3, warnings: ["careful"] });
  }
  async poke(): Promise<void> {}
  async metadata(): Promise<Record<string, unknown> | null> {
    return this.state === null ? null : { env_id: this.state.config.env_id };
  }
  async hubPushed(): Promise<void> {
    throw new Error("nobody pushes this run");
  }
  async remove(): Promise<Result<null>> {
    this.state = null;
    return ok(null);
  }
  async uploads() {
    return { digests: [], manifest: null };
  }
}

export class FakeRegistry extends FakeBudgets implements RegistryControl {
  readonly taken = new Set<string>();
  readonly keys = new Map<string, { run_ids: readonly string[]; body_digest: string }>();
  readonly reserved: ReserveRequest[] = [];
  readonly queries: unknown[] = [];
  projections: RunProjection[] = [];

  async reserve(request: ReserveRequest): Promise<Result<Reservation>> {
    this.reserved.push(request);
    const { candidates, count = 1, idempotency_key: key, body_digest } = request;
    const known = key === null ? undefined : this.keys.get(key);
    if (known !== undefined) {
      const { run_ids } = known;
      const deleted = run_ids.filter((id) => !this.taken.has(id));
      return known.body_digest === body_digest ? ok({ run_ids, existing: true, deleted }) : fail("idempotency_conflict", "Other body.");
    }
    const run_ids = candidates.filter((id) => !this.taken.has(id)).slice(0, count);
    if (run_ids.length < count) return fail("illegal_transition", "Taken.");
    for (const id of run_ids) this.taken.add(id);
    if (key !== null) this.keys.set(key, { run_ids, body_digest });
    return ok({ run_ids, existing: false, deleted: [] });
  }
  /** What is refused for want of room. */
  full: Failure | null = null;
  async admitResume({ rollouts }: ResumeAdmission): Promise<Result<number>> {
    return this.full === null ? ok(rollouts) : { ok: false, error: this.full };
  }
  async withdrawResume(): Promise<void> {}
  async admitUpload(): Promise<Result<null>> {
    return this.full === null ? ok(null) : { ok: false, error: this.full };
  }
  async dropUpload(): Promise<void> {}
  async standing(): Promise<RunStanding> {
    return { kept: false, removal_at: null };
  }
  async keep(): Promise<Result<RunStanding>> {
    return ok({ kept: true, removal_at: null });
  }
  async retain(): Promise<readonly string[]> {
    return [];
  }
  async limits(): Promise<LimitFacts> {
    return { set: {}, limits: limitsOfTeam({}, { local: true, team: DEFAULT_TEAM }), used: { runs: 0, rollouts: 0, stored_bytes: 0 } };
  }
  async setLimits(): Promise<LimitFacts> {
    return this.limits();
  }
  async release(runId: string): Promise<void> {
    this.taken.delete(runId);
    for (const [key, { run_ids }] of this.keys) if (!run_ids.some((id) => this.taken.has(id))) this.keys.delete(key);
  }
  async project(): Promise<void> {}
  async list(query: { skip: number; limit: number; environment_name: string | null }): Promise<{ runs: readonly RunProjection[]; total: number }> {
    this.queries.push(query);
    return { runs: this.projections.slice(query.skip, query.skip + query.limit), total: this.projections.length };
  }
  changes = "1";
  async listChanges(): Promise<string> {
    return this.changes;
  }
  async turn(): Promise<readonly string[]> {
    return [];
  }
  async forget(): Promise<void> {}
  readonly used: string[] = [];
  /** What was noted, and what came of it. */
  readonly audited: (NewAuditEntry & { status?: number; made?: string | null })[] = [];
  async noteAudit(entry: NewAuditEntry): Promise<number> {
    return this.audited.push({ ...entry });
  }
  async endAudit({ seq, status, target }: AuditEnd): Promise<void> {
    Object.assign(this.audited[seq - 1] ?? {}, { status, made: target });
  }
  async listAudit(): Promise<readonly AuditEntry[]> {
    return [];
  }
  readonly endpoints = new Map<string, StoredEndpoint>();
  async endpoint(id: string): Promise<StoredEndpoint | null> {
    return this.endpoints.get(id) ?? null;
  }
  async listEndpoints(): Promise<readonly StoredEndpoint[]> {
    return [...this.endpoints.values()];
  }
  async writeEndpoints({ entries, how, user }: EndpointWrite): Promise<Result<readonly StoredEndpoint[]>> {
    const ids = [...new Set(entries.map(({ endpoint_id }) => endpoint_id))];
    for (const id of ids) {
      const added = entries.flatMap(({ endpoint_id, entry }) => (endpoint_id === id ? [entry] : []));
      const before = how === "add" ? (this.endpoints.get(id)?.entries ?? []) : [];
      this.endpoints.set(id, { endpoint_id: id, entries: [...before, ...added], created_at: 0, updated_at: 0, updated_by: user });
    }
    return ok(ids.flatMap((id) => this.endpoints.get(id) ?? []));
  }
  async deleteEndpoint(id: string): Promise<boolean> {
    return this.endpoints.delete(id);
  }
  readonly datasets = new Map<string, NamedDataset>();
  async namedDataset(name: string): Promise<NamedDataset | null> {
    return this.datasets.get(name) ?? null;
  }
  async listNamedDatasets(): Promise<readonly NamedDataset[]> {
    return [...this.datasets.values()];
  }
  async putNamedDataset({ name, revision }: { name: string; revision: NamedRevision }): Promise<Result<NamedDataset>> {
    const dataset = { name, created_at: revision.created_at, revisions: [revision] };
    this.datasets.set(name, dataset);
    return ok(dataset);
  }
  async deleteNamedDataset(name: string): Promise<boolean> {
    return this.datasets.delete(name);
  }
  async has(runId: string): Promise<boolean> {
    return this.taken.has(runId);
  }
  async keepUploads(digests: readonly string[]): Promise<void> {
    this.used.push(...digests);
  }
  async sweepUploads(): Promise<{ readonly kind: "idle" }> {
    return { kind: "idle" };
  }
  async markUploads(): Promise<void> {}
}

export interface Door {
  readonly runs: Map<string, FakeRun>;
  readonly registry: FakeRegistry;
  readonly store: MemoryStore;
  readonly people: FakeDirectory;
  /** By the names of their objects. */
  readonly limiters: Map<string, FakeLimiter>;
  /** Made when they are first asked for. */
  readonly budgets: Map<string, FakeBudget>;
  /** By the names of their objects, made when they are first asked for. */
  readonly desks: Map<string, FakeDesk>;
  /** What the service's code is; a test may change it. */
  readonly codes: { digest: string };
  run(id: string): FakeRun;
  /** Path below `/api/v1` unless it starts with a double slash, or is a whole URL. */
  call(method: string, path: string, body?: JsonObject | string | Uint8Array, headers?: Record<string, string>): Promise<Response>;
}

/** What a command at a terminal sends as `X-Edgewise-Attended`. */
export const COMMAND_SECRET = "secret-of-this-boot";

/** The app over fakes, called as the local service is. `stubOf` is what a handler gets for a run each time it asks for a stub. */
export function openDoor(
  facts: Partial<AppFacts> = {},
  secrets: Record<string, string> = { PRIME_API_KEY: "sk-secret" },
  stubOf: (run: FakeRun) => RunControl & PushControl = (run) => run,
  environments: readonly EnvironmentFacts[] = ENVIRONMENTS,
  access: AccessDoor | null = null,
  rate: AppPorts["rate"] = null,
): Door {
  const runs = new Map<string, FakeRun>();
  const run = (id: string): FakeRun => {
    const known = runs.get(id) ?? new FakeRun();
    runs.set(id, known);
    return known;
  };
  const masterKey = drawMasterKey();
  const codes = { digest: DIGEST_OF_CODE };
  const registry = new FakeRegistry();
  const store = new MemoryStore();
  const people = new FakeDirectory();
  const limiters = new Map<string, FakeLimiter>();
  const budgets = new Map<string, FakeBudget>();
  const budget = (name: string): FakeBudget => {
    const known = budgets.get(name) ?? new FakeBudget();
    budgets.set(name, known);
    return known;
  };
  const desks = new Map<string, FakeDesk>();
  const desksOf =
    (team: string) =>
    (digit: string): FakeDesk => {
      const known = desks.get(`${team}/${digit}`) ?? new FakeDesk();
      desks.set(`${team}/${digit}`, known);
      return known;
    };
  const teams = new Map<string, Pick<AppPorts, "registry" | "store" | "run">>();
  const within = (team: string): AppPorts => {
    if (team === DEFAULT_TEAM) return ports;
    const known = teams.get(team) ?? { registry: new FakeRegistry(), store: new MemoryStore(), run: (id) => stubOf(run(`${team}/${id}`)) };
    teams.set(team, known);
    return { ...ports, ...known, answers: desksOf(team), team };
  };
  const ports: AppPorts = {
    team: DEFAULT_TEAM,
    inTeam: within,
    directory: people,
    access,
    rate,
    facts: {
      local: true,
      boot: "boot-1",
      token: null,
      commandSecret: COMMAND_SECRET,
      version: "1.2.3",
      baseUrl: "https://models.example/v1",
      keyVar: "PRIME_API_KEY",
      keyVars: DEFAULT_KEY_VARS,
      hub: "https://hub.example",
      stays: true,
      mails: false,
      pollMs: 1,
      hubWaitMs: 1,
      ...facts,
    },
    keys: { LOCAL_SECRETS: secrets, ...(facts.local === false ? {} : { LOCAL: "1" }) },
    masterKeys: () => masterKeysOf({ EDGEWISE_MASTER_KEY: masterKey }),
    hiding: (_values, work) => work(),
    sandboxChoice: async (chosen, key) => ({
      chosen,
      usual: "local",
      problems: {
        local: null,
        docker: "no engine answers",
        prime: (await key("PRIME_API_KEY", "sandboxes.example")) === null ? "PRIME_API_KEY is not set" : null,
        e2b: (await key("E2B_API_KEY", "sandboxes.example")) === null ? "E2B_API_KEY is not set" : null,
        cloudflare: "no binding",
      },
    }),
    registry,
    store,
    limiter: (name) => limiters.get(name) ?? null,
    budget,
    answers: desksOf(DEFAULT_TEAM),
    parquet: () => Promise.reject(new Error("no Parquet is made here")),
    ...NOTHING_BY_THE_CLOCK,
    assets: null,
    embedded: null,
    fetch: () => Promise.reject(new TypeError("no network")),
    run: (id) => stubOf(run(id)),
    ...environmentPorts(environments, codes),
    now: Date.now,
  };
  const app = createApp(() => ports);
  const call: Door["call"] = async (method, path, body, headers = {}) => {
    const below = path.startsWith("//") ? path.slice(1) : `/api/v1${path}`;
    const url = path.startsWith("http") ? path : `http://127.0.0.1${below}`;
    const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const sent = { ...(raw === undefined ? {} : { "content-type": "application/json" }), ...headers };
    return app.request(url, { method, headers: sent, ...(raw === undefined ? {} : { body: raw as NonNullable<RequestInit["body"]> }) });
  };
  return { runs, registry, store, people, limiters, budgets, desks, run, call, codes };
}
