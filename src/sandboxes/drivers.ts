import type { SandboxName } from "../config/sandbox-names.ts";
import { SandboxCreationError } from "../errors/rollout-errors.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import type { DriverHost, SandboxDriver } from "./driver.ts";
import { E2B } from "./e2b/e2b.ts";
import { PRIME } from "./prime/prime.ts";
import { DOCKER, LOCAL } from "./local/local-drivers.ts";

/** The drivers that this version has. */
const DRIVERS: Readonly<Partial<Record<SandboxName, SandboxDriver>>> = { local: LOCAL, docker: DOCKER, prime: PRIME, e2b: E2B };

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
  // For as long as it is open: a team's key is a call of its Registry.
  const keys = new Map<string, Promise<string | null>>();
  const key: DriverHost["key"] = (variable, at) => {
    const known = keys.get(`${variable} ${at}`) ?? host.key(variable, at);
    keys.set(`${variable} ${at}`, known);
    known.catch(() => keys.delete(`${variable} ${at}`));
    return known;
  };
  return driver.open({ ...host, key });
}
