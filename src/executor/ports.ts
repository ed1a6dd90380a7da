import type { AnswerDeskControl } from "../../durable-objects/answers/answer-desk-control.ts";
import type { BatchExecution } from "../../durable-objects/run/batching/batching-protocol.ts";
import type { BudgetControl } from "../../durable-objects/budget/budget-control.ts";
import type { DispatcherControl } from "../../durable-objects/dispatcher/dispatcher-control.ts";
import type { LimiterControl } from "../../durable-objects/limiter/limiter-control.ts";
import type { RunControl } from "../../durable-objects/run/control.ts";
import type { IntakeExecution } from "../../durable-objects/run/pushed/pushed-protocol.ts";
import type { RunExecution } from "../../durable-objects/run/protocol.ts";
import type { AiBinding } from "../clients/client.ts";
import type { EndpointKey, KeySource } from "../config/endpoints/secrets.ts";
import type { EnvironmentName, EnvironmentOfRun, RunConfig } from "../config/plan/run-config.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import type { SandboxName } from "../config/sandbox-names.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import type { RunSecrets } from "../secrets/run-secrets.ts";
import type { HubAccess } from "../datasets/host.ts";
import type { Result } from "../errors/result.ts";
import type { ANSWER_DESKS } from "../teams/team-name.ts";
import type { ExecutorBytes } from "./isolate-bytes.ts";
import type { Printer } from "../logging/environment-line.ts";
import type { Isolate } from "./session/isolate.ts";

/** Outcome of a create-only put: `other` = the key holds something else. */
export type Stored = "stored" | "other";

export interface MultipartPart {
  readonly part: number;
  readonly etag: string;
}

/** The part of R2 an executor needs. Every method throws on a failure that may have had its effect. */
export interface ExecutorStore {
  /** Puts `bytes` unless the key is taken; the same bytes there already count as stored. */
  create(key: string, bytes: Uint8Array): Promise<Stored>;
  put(key: string, bytes: Uint8Array, contentType: string): Promise<void>;
  /** Bytes `[offset, offset + length)`; throws when the object is missing or shorter. */
  read(key: string, offset: number, length: number): Promise<Uint8Array>;
  readAll(key: string): Promise<Uint8Array | null>;
  stream(key: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Bytes of an object; null when there is none. */
  size(key: string): Promise<number | null>;
  startUpload(key: string, contentType: string, mark: string): Promise<string>;
  uploadPart(key: string, uploadId: string, part: number, bytes: Uint8Array): Promise<string>;
  /** Completing an upload that is complete already (its `mark` is on the object) succeeds. */
  completeUpload(key: string, uploadId: string, parts: readonly MultipartPart[], mark: string): Promise<void>;
}

export type RunStub = RunExecution & IntakeExecution & BatchExecution & Pick<RunControl, "metadata" | "events">;

/** Everything an executor stands on; it does not know its host. */
export interface ExecutorPorts {
  readonly id: string;
  readonly boot: string;
  /** Life of this process, of which a boot may see several. */
  readonly runtime: string;
  /** What its executors share. */
  readonly isolate: Isolate;
  /** True in the local service: no connection limit, no unit deadline, data only from uploads and https. */
  readonly local: boolean;
  readonly dispatcher: () => DispatcherControl;
  /** The environment that a run was made with; null when this executor has none of that name. Rejects where it cannot be looked up now. */
  readonly offered: (run: EnvironmentName) => Promise<OfferedEnvironment | null>;
  /** Digest of an environment as this executor has it; null when it has none of that name. Throws `invalid_request` for arguments it cannot take. */
  readonly envDigest: (run: EnvironmentOfRun) => Promise<string | null>;
  /** A fresh stub per call: after an exception the old one stays broken. */
  readonly run: (runId: string) => RunStub;
  readonly store: ExecutorStore;
  /** What this executor holds of the memory of its isolate. */
  readonly bytes: ExecutorBytes;
  /** The Limiter of that name (src/endpoint-limits/limiter-name.ts), a fresh stub per call; null in a deployment that has none. */
  readonly limiter: (name: string) => Pick<LimiterControl, "exchange"> | null;
  /** The desk of a team's kept answers whose digests begin with that digit, a fresh stub per call; null in a deployment that has none. */
  readonly answers: (team: string, digit: (typeof ANSWER_DESKS)[number]) => Pick<AnswerDeskControl, "ask"> | null;
  /** The Budget of that name (src/budgets/budget-name.ts), as of Limiters. */
  readonly budget: (name: string) => Pick<BudgetControl, "exchange" | "job"> | null;
  readonly keyOf: (variable: string, baseUrl: string) => Result<EndpointKey>;
  /** Variables and bindings of this host that keys of teams are checked beside. */
  readonly keys: KeySource;
  /** The secrets of the run that a grant is for, of its team and its own. Throws `missing_key` for one that is there no more. */
  readonly secretsOf: (config: RunConfig, declared: readonly string[]) => Promise<RunSecrets>;
  /** Does `work` so that none of these values stands in what it writes. */
  readonly hiding: <T>(values: readonly string[], work: () => T) => T;
  /** Whose sandboxes environments get that are not told; null = nobody's. */
  readonly usualSandbox: SandboxName | null;
  /** Sandboxes of that name for runs of this team, paid for by keys of the team or the service; `fetch`: what their provider is called with. */
  readonly sandboxes: (name: SandboxName, config: RunConfig, fetch: ExecutorPorts["fetch"]) => Sandbox;
  /** Why an environment may not have a client for this place with this key; null when it may. */
  readonly placeProblem: (place: { readonly base_url: string; readonly api_key_var: string }) => string | null;
  /** Why an environment may not call this address, whatever the key; null when it may. */
  readonly addressProblem: (base_url: string) => string | null;
  /** The value of a variable that holds a key, for environments that declare it; null when it is not set. */
  readonly secret: (name: string) => string | null;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Cloudflare's own models, where the Worker is bound to them. */
  readonly ai: AiBinding | null;
  /** The Hugging Face Hub that data sets are read from. */
  readonly hub: HubAccess;
  /** Whether the process that started the local service lives; always true when deployed. */
  readonly parentLives: () => Promise<boolean>;
  /** Says that code of this environment is about to run, where somebody watches whether it ever pauses; the answer says that it is over. */
  readonly atWork: (environment: string) => Promise<() => void>;
  /** Milliseconds; the clock of leases, slices and rows. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal | null) => Promise<void>;
  readonly random: () => number;
  readonly log: (message: string) => void;
  /** What code prints that `work` runs, and all that it starts, goes to `printer`. */
  readonly printsTo: <T>(printer: Printer, work: () => T) => T;
  /** Blots out what this host holds of secrets, those in the variables `names` among them: what is left may stand in a log. */
  readonly mask: (names: readonly string[]) => (text: string) => string;
}

/** Numbers of an executor, from `[vars]`. Milliseconds unless said otherwise. */
export interface ExecutorBudget {
  /** Model requests at once, over all runs. */
  readonly requests: number;
  /** Requests at once that wait for the headers of their answer; null = the platform does not count them. */
  readonly connections: number | null;
  readonly margin: number;
  readonly poll: number;
  readonly slice: number;
  /** Length of a slice while runs still want lanes: the platform decides on more consumers when one ends. */
  readonly wanted: number;
  /** End of the invocation: what is still open then is given up and goes back. */
  readonly wall: number;
  readonly rollouts: number;
  /** Rollouts held unscored where scoring is postponed, if they are more than are open at once anyway. */
  readonly held: number;
  readonly subrequests: number;
  /** How long requests outlast an endpoint that answers nobody: one that had answered (0 = no longer than their own retries last), and one that never did. */
  readonly outage: number;
  readonly firstAnswer: number;
  /** How long an endpoint may refuse everybody for want of room before that costs requests their retries; 0 = it does at once. */
  readonly storm: number;
  /** Time of a rollout that may be lost with its executor: beyond it, where the rollout stands between two turns is kept. */
  readonly keepTurns: number;
  /** For how long after somebody began to create a batch it may still come into the provider's list; absent = `BATCH_SETTLE_MS`. */
  readonly settle?: number;
  /** Age at which a unit ends with `timeout` rows; null = none. */
  readonly unitDeadline: number | null;
}
