import type { AlertBookControl } from "../../durable-objects/alert-book/alert-book-control.ts";
import type { BudgetControl } from "../../durable-objects/budget/budget-control.ts";
import type { DirectoryControl } from "../../durable-objects/directory/directory-control.ts";
import type { AnswerDeskControl } from "../../durable-objects/answers/answer-desk-control.ts";
import type { ANSWER_DESKS } from "../teams/team-name.ts";
import type { LimiterControl } from "../../durable-objects/limiter/limiter-control.ts";
import type { RegistryControl } from "../../durable-objects/registry/registry-control.ts";
import type { RunControl, RunView } from "../../durable-objects/run/control.ts";
import type { PushControl } from "../../durable-objects/run/pushed/pushed-protocol.ts";
import type { MonitorControl } from "../../durable-objects/monitor/monitor-control.ts";
import type { MonitorIndexControl } from "../../durable-objects/registry/monitors/monitor-index-control.ts";
import type { EvaluatorIndexControl, ScheduleIndexControl } from "../../durable-objects/registry/schedules/schedule-index-control.ts";
import type { EvaluatorControl } from "../../durable-objects/evaluator/evaluator-control.ts";
import type { ScheduleControl } from "../../durable-objects/schedule/schedule-control.ts";
import type { AccessDoor } from "./access/cloudflare-access.ts";
import type { RateLimit } from "./access/request-rate.ts";
import type { EnvironmentFacts as Described } from "../environments/definition/describe.ts";
import type { EnvironmentFacts } from "./creation/resolve.ts";
import type { EnvironmentName, EnvironmentOfRun, JsonObject } from "../config/plan/run-config.ts";
import type { KeySource } from "../config/endpoints/secrets.ts";
import type { ExportState } from "../exporting/export-state.ts";
import type { SandboxChoice, SandboxName } from "../config/sandbox-names.ts";
import type { DriverHost } from "../sandboxes/driver.ts";
import type { Result } from "../errors/result.ts";
import type { LinkedFacts, SealedLink } from "../links/link.ts";
import type { LinkServer, ServerHealth } from "../links/link-server.ts";
import type { MasterKeys } from "../secrets/master-keys.ts";

/** What the door knows of the service it stands in front of. */
export interface AppFacts {
  /** The local service: no token unless one is set, loopback only. */
  readonly local: boolean;
  readonly boot: string;
  readonly token: string | null;
  /** What a command of this machine proves itself with (`X-Edgewise-Attended`), drawn at each start; null where nobody can. */
  readonly commandSecret: string | null;
  readonly version: string;
  /** Where a model is called when a request names no endpoint, and the variable of its key. */
  readonly baseUrl: string;
  readonly keyVar: string;
  /** Which variables a request may name, and where their keys may go (config/key-vars.ts). */
  readonly keyVars: string;
  /** The Hub that runs are pushed to; null where nobody would push them. */
  readonly hub: string | null;
  /** It is reached at the same place tomorrow: not one that a command starts for itself. */
  readonly stays: boolean;
  /** Email can be sent. */
  readonly mails: boolean;
  /** Milliseconds between two looks at a run for an event stream. */
  readonly pollMs: number;
  /** Milliseconds for which a client of the Hub waits in one request for files that are being made. */
  readonly hubWaitMs: number;
  /** Where the results folders are that are looked at in place of a service's runs; absent = there is a service. */
  readonly folders?: string;
}

/** The part of R2 the door needs; bodies are streams, so that no object is held in memory. */
export interface ObjectStore {
  /** Bytes of an object; null when there is none. */
  size(key: string): Promise<number | null>;
  read(key: string, range?: { readonly offset: number; readonly length: number }): Promise<ReadableStream<Uint8Array> | null>;
  /** The row that is all of a range but for its line end, where it is there as an object already; absent = of no object. */
  parsed?(key: string, range: { readonly offset: number; readonly length: number }): Promise<{ readonly row: JsonObject; readonly bytes: number } | null>;
  putText(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** Stores `body`, of exactly `bytes` bytes, as it comes. Rejects where it breaks off, or has another length; nothing is stored then. */
  putStream(key: string, body: ReadableStream<Uint8Array>, bytes: number): Promise<void>;
  /** Stores pieces whose number nobody knows before; nothing is stored where they break off. Their sha256 is hex. */
  putPieces(key: string, pieces: AsyncIterable<Uint8Array>): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** The same of pieces that are not stored. */
  digestOf(pieces: AsyncIterable<Uint8Array>): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** Stores `body`, of exactly `bytes` bytes and with this sha256, unless the key is taken; nothing is stored on a failure. */
  create(
    key: string,
    upload: { readonly body: ReadableStream<Uint8Array>; readonly bytes: number; readonly sha256: string },
  ): Promise<Result<"created" | "exists">>;
}

/** The schedules of a team. */
export interface SchedulePorts {
  readonly index: ScheduleIndexControl;
  /** A fresh stub per call. */
  of(name: string): ScheduleControl;
  /** Whether due times are begun here at all. */
  readonly served: boolean;
}

/** The monitors of a team. */
export interface MonitorPorts {
  readonly index: MonitorIndexControl;
  /** A fresh stub per call; `id`: of the object, whichever team's it is. */
  of(id: string): MonitorControl;
  /** Whether anybody watches here at all. */
  readonly served: boolean;
  /** How often a run of this service reports to its monitor, in milliseconds. */
  readonly heartbeatMs: number;
}

/** The alerts of a team. */
export interface AlertPorts {
  /** A fresh stub per look. */
  readonly book: AlertBookControl;
}

/** The evaluators of a team. */
export interface EvaluatorPorts {
  readonly index: EvaluatorIndexControl;
  /** A fresh stub per call. */
  of(name: string): EvaluatorControl;
  /** Whether steps are evaluated here at all. */
  readonly served: boolean;
}

/** Everything the HTTP door stands on, so that its rules run without the platform. Ids, uploads and keys of requests are of one team. */
export interface AppPorts {
  readonly facts: AppFacts;
  readonly team: string;
  /** The same for another team: there is no other way to what is its. */
  inTeam(team: string): AppPorts;
  /** Who there is; null in a deployment whose wrangler.toml names no Directory: its owner alone. */
  readonly directory: DirectoryControl | null;
  /** Where Cloudflare Access stands before the deployment; null where it does not. */
  readonly access: AccessDoor | null;
  /** How often tokens may ask; null where nothing counts. */
  readonly rate: RateLimit | null;
  readonly keys: KeySource;
  /** What secrets of teams are encrypted with. Fails with `missing_key` where the service has none. */
  masterKeys(): Promise<Result<MasterKeys>>;
  /** Does `work` so that none of these values stands in what it, or the code of an environment in it, has written. */
  hiding<T>(values: readonly string[], work: () => T): T;
  readonly registry: RegistryControl;
  readonly store: ObjectStore;
  /** A fresh stub per call: after an exception the old one stays broken. */
  run(runId: string): RunControl & PushControl;
  /** Null in a deployment whose wrangler.toml is of before there were schedules. */
  readonly schedules: SchedulePorts | null;
  /** The same for monitors. */
  readonly monitors: MonitorPorts | null;
  /** Null in a deployment whose wrangler.toml is of before there were alerts. */
  readonly alerts: AlertPorts | null;
  /** Null in a deployment whose wrangler.toml is of before there were evaluators. */
  readonly evaluators: EvaluatorPorts | null;
  /** The Limiter of this name, a fresh stub per call; null in a deployment whose wrangler.toml is of before there were any. */
  limiter(name: string): LimiterControl | null;
  /** The Budget of this name (src/budgets/budget-name.ts), a fresh stub per call; null in a deployment whose wrangler.toml is of before there were any. */
  budget(name: string): BudgetControl | null;
  /** The desk of the team's kept answers whose digests begin with that digit, a fresh stub per call; null in a deployment whose wrangler.toml is of before there were any. */
  answers(digit: (typeof ANSWER_DESKS)[number]): AnswerDeskControl | null;
  /** How far the Parquet files of a settled run are; the first question begins them. */
  parquet(view: RunView): Promise<ExportState>;
  /** A request to the outside. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** The files of the dashboard; null in a deployment whose wrangler.toml names none. */
  readonly assets: { fetch(request: Request): Promise<Response> } | null;
  /** The routes of the embedded model; null where there is none. */
  readonly embedded: { fetch(request: Request): Promise<Response> } | null;
  /** What a request names: `name` or `owner/name`, without our own owner in front, and the version if it says one. Null where there is none. */
  findEnvironment(name: string, version?: string): Promise<EnvironmentFacts | null>;
  /** The environment that a run was made with; null where there is none any more. */
  offered(run: EnvironmentName): Promise<EnvironmentFacts | null>;
  /** What a module says of the environment that it exports; asked where it can reach nothing. Throws `environment_failed`. */
  describe(code: { readonly digest: string; readonly text: string; readonly map: string }): Promise<Described>;
  /** Whose sandboxes a run that chose these may have; `key`: as `DriverHost.key`, of what the run would have. */
  sandboxChoice(chosen: SandboxName | null, key: DriverHost["key"]): Promise<SandboxChoice>;
  /** What an environment server says of its environment. Throws `environment_failed`, also where it is not reached. */
  describeServer(server: LinkServer): Promise<LinkedFacts>;
  /** How an environment server is now; never rejects. */
  healthOf(server: LinkServer): Promise<ServerHealth>;
  /** The token of a link's server. Fails as secrets do that cannot be opened. */
  tokenOf(link: SealedLink): Promise<Result<string>>;
  /** Digest of an environment as this service has it; null when it has none of that name. */
  envDigest(run: EnvironmentOfRun): Promise<string | null>;
  /** Of those that every team has. */
  readonly environmentIds: readonly string[];
  /** Unix milliseconds. */
  now(): number;
}
