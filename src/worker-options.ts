import type { EnvironmentDefinition } from "./environments/definition/definition.ts";
import type { OfferedEnvironment } from "./environments/definition/offered.ts";

export interface WorkerOptions {
  /** Environments that this service has beside the bundled ones; one of the same id takes the place of the bundled one. */
  readonly environments?: readonly (EnvironmentDefinition | OfferedEnvironment)[];
}
