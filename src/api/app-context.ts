import type { AppPorts } from "./app-ports.ts";
import type { RunWatches } from "./run-watch.ts";

/** What every handler finds in its context. */
export interface AppContext {
  readonly Variables: {
    readonly ports: AppPorts;
    /** Shared by all requests of this isolate. */
    readonly watches: RunWatches;
  };
}
