/** The service that a command works with, as whoever uses it sees it; `open-service.ts` finds or starts one. */
import type { ServiceClient } from "../connection/http-client.ts";
import type { LockRecord } from "../state/state-lock.ts";

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
}

export interface ServiceOptions extends Surroundings {
  /** For the lock file: what the owner of the folder is doing. */
  readonly command: string;
  /** 0 = any free port. */
  readonly port: number;
  /** Variables that runs of this command name as their key. */
  readonly keyNames: readonly string[];
  /** Runs created through this service end with it, and go on at `-R`. */
  readonly attended: boolean;
  /** Executors that its runs want side by side, unless `EDGEWISE_EXECUTORS` says how many there are. */
  readonly executors?: number;
  /** Only to be asked for a moment: a service that has to be started for it runs nothing, and takes no clients. */
  readonly idle?: boolean;
  /** It stays, and so keeps schedules. */
  readonly stays?: boolean;
  /** Hears where the state was moved to, which then begins anew; absent = it is gone on with. */
  readonly onFreshState?: (movedTo: string | null) => void;
  /** A Worker with environments of this machine, and the digests of their code by id; null = the built one. */
  readonly worker?: LocalWorker | null;
  /** Environments that are to be those of this package, by id. */
  readonly bundled?: readonly string[];
  /** The runtime ended by itself and is being started again. */
  readonly onCrash: (environments: readonly string[]) => void;
  /** It answered nobody any more, and was ended to be started again: whose code was at work there. Absent = that is told as a crash. */
  readonly onHang?: (environments: readonly string[]) => void;
}

/** A module of a Worker; `path` is what others import it by, the first one is the main module. */
export interface WorkerModule {
  readonly path: string;
  readonly contents: string;
}

/** What a command brings to the service of its folder. */
export interface LocalWorker {
  readonly modules: readonly WorkerModule[];
  readonly environments: Readonly<Record<string, string>>;
}

export type ServiceRole = "remote" | "client" | "owner";

export interface Service {
  readonly role: ServiceRole;
  readonly url: string;
  readonly client: ServiceClient;
  /** Null for a deployed service. */
  readonly stateFolder: string | null;
  /** Of a client: the process it depends on. */
  readonly owner: LockRecord | null;
  /** Of a client: fires when that process has ended. Its runtime may answer for a while longer, but nothing it does lasts. */
  readonly orphaned: AbortSignal | null;
  /** Other processes that work through this one. */
  clients(): readonly number[];
  close(): Promise<void>;
}
