import type { SandboxName } from "../config/sandbox-names.ts";
import { SandboxCreationError } from "../errors/rollout-errors.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import type { DriverHost, SandboxDriver } from "./driver.ts";
import { DOCKER, LOCAL } from "./local/local-drivers.ts";

/** The drivers that this version has. */
const DRIVERS: Readonly<Partial<Record<SandboxName, SandboxDriver>>> = { local: LOCAL, docker: DOCKER };

const lacks = (name: SandboxName): string => `this version has no driver for sandboxes of ${name}`;

/** What is missing for sandboxes of this name; null = nothing. */
export const driverProblem = async (name: SandboxName, host: DriverHost): Promise<string | null> => {
  const driver = DRIVERS[name];
  return driver === undefined ? lacks(name) : await driver.problem(host);
};

/** Sandboxes of this name. Throws a `SandboxCreationError` where this version has none. */
export function openDriver(name: SandboxName, host: DriverHost): Sandbox {
  const driver = DRIVERS[name];
  if (driver === undefined) throw new SandboxCreationError(lacks(name));
  return driver.open(host);
}
