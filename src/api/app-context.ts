import type { Caller } from "../teams/caller.ts";
import type { Principals } from "./access/principals.ts";
import type { RequestAudit } from "./access/request-audit.ts";
import type { ListWatches } from "./live/list-watch.ts";
import type { AppPorts } from "./app-ports.ts";
import type { ScoreTables } from "./comparisons/score-tables.ts";
import type { RunWatches } from "./runs/run-watch.ts";

/** What every handler finds in its context. */
export interface AppContext {
  readonly Variables: {
    /** Of the team that the request is about. */
    readonly ports: AppPorts;
    readonly caller: Caller;
    readonly principals: Principals;
    /** Of a request that changes something. */
    readonly audit: RequestAudit;
    /** Shared by all requests of this isolate. */
    readonly watches: RunWatches;
    readonly listWatches: ListWatches;
    readonly scoreTables: ScoreTables;
  };
}
