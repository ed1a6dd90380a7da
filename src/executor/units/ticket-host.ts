import type { CollectedJob, Holding, Vitals } from "../../../durable-objects/run/protocol.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import type { RolloutErrorCode } from "../../errors/codes.ts";
import type { CacheMeter } from "../../rollouts/state/cache-meter.ts";
import type { JudgeMeter } from "../../rollouts/state/judge-usage.ts";
import type { Client } from "../../rollouts/types.ts";
import type { ExecutorBudget, ExecutorPorts } from "../ports.ts";
import type { Seat } from "../session/isolate.ts";
import type { SavedRows } from "./saved-rows.ts";
import type { Slice } from "../slice.ts";
import type { StorageOutage } from "./storage-outage.ts";
import type { UnitTimes } from "../session/unit-times.ts";

/** What one grant of units stands on (units-ticket.ts). */
export interface TicketHost {
  readonly ports: ExecutorPorts;
  readonly budget: ExecutorBudget;
  readonly slice: Slice;
  readonly environment: HostedEnvironment;
  /** Of its code, where rows are to carry it. */
  readonly envDigest: string | undefined;
  readonly judges: JudgeMeter;
  /** Absent where the run does not read the cache. */
  readonly cache?: CacheMeter | undefined;
  readonly clientOf: (unit: number) => Client;
  /** Of a run whose requests go out in batches: a unit is played now, and these jobs may have its answers; says that it is over. Absent: each request is sent. */
  readonly answersOf?: ((unit: number, jobs: readonly CollectedJob[]) => () => void) | undefined;
  readonly vitals: () => Vitals;
  /** Lets as many requests through as that, and no more; tells how many are under way, of the model and of judges, as they become fewer. */
  readonly narrow: (holding: Holding, underWay: (requests: number, scoring: number) => void) => void;
  /** Whether calls of the grant wait that no budget will pay for, and none is under way. */
  readonly isUnpaid: () => boolean;
  /** The run has this weight beside others from now on. */
  readonly weigh: (priority: number) => void;
  /** Says something once per run and executor: the first error of a code. */
  readonly noteFirst: (code: RolloutErrorCode, message: string) => void;
  /** Says something once per run and executor. */
  readonly note: (level: "INFO" | "WARNING", message: string) => void;
  /** Rows of this run that an earlier grant of this executor could not commit; what this one cannot is put there. */
  readonly saved: SavedRows;
  readonly outage: StorageOutage;
  /** Model requests that the executor could carry for the run now, those that the ticket has among them. */
  readonly room: () => number;
  readonly seat: Seat;
  /** What units of this run took this executor, under earlier grants too. */
  readonly times: UnitTimes;
  /** What is to be over before the ticket is given back, which tells the run that nothing more comes. Does not reject. */
  readonly beforeLeave: () => Promise<void>;
}
