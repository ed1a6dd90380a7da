import type { SandboxName } from "../config/sandbox-names.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import type { DriverHost, SandboxDriver } from "./driver.ts";
import { CLOUDFLARE } from "./cloudflare/cloudflare.ts";
import { E2B } from "./e2b/e2b.ts";
import { PRIME } from "./prime/prime.ts";
import { DOCKER, LOCAL } from "./local/local-drivers.ts";

const DRIVERS: Readonly<Record<SandboxName, SandboxDriver>> = { local: LOCAL, docker: DOCKER, prime: PRIME, e2b: E2B, cloudflare: CLOUDFLARE };

/** What is missing for sandboxes of this name; null = nothing. */
export const driverProblem = (name: SandboxName, host: DriverHost): Promise<string | null> => DRIVERS[name].problem(host);

/** Sandboxes of this name. */
export function openDriver(name: SandboxName, host: DriverHost): Sandbox {
  // For as long as it is open: a team's key is a call of its Registry.
  const keys = new Map<string, Promise<string | null>>();
  const key: DriverHost["key"] = (variable, at) => {
    const known = keys.get(`${variable} ${at}`) ?? host.key(variable, at);
    keys.set(`${variable} ${at}`, known);
    known.catch(() => keys.delete(`${variable} ${at}`));
    return known;
  };
  return DRIVERS[name].open({ ...host, key });
}
