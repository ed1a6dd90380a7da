import type { EnvironmentDefinition } from "./environments/definition/definition.ts";
import type { IsolatedModule } from "./isolates/isolated-module.ts";

export interface WorkerOptions {
  /** Environments that this service has beside the bundled ones, as part of its own code; one of the same id takes the place of the bundled one. */
  readonly environments?: readonly EnvironmentDefinition[];
  /** Further ones, each of which runs in an isolate of its own. */
  readonly isolated?: readonly IsolatedModule[];
}
