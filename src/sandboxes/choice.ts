import { isSandboxName, SANDBOX_NAMES, type SandboxChoice, type SandboxName } from "../config/sandbox-names.ts";
import type { DriverEnv, DriverHost } from "./driver.ts";
import { driverProblem } from "./drivers.ts";

/** Whose sandboxes runs get where neither they nor their environments say: `SANDBOX` of the service, else `local` on one's own machine; null = nobody's. */
export function usualSandbox({ SANDBOX = "", LOCAL }: DriverEnv): SandboxName | null {
  const name = SANDBOX.trim();
  if (isSandboxName(name)) return name;
  return name === "" && LOCAL !== undefined ? "local" : null;
}

/** Whose sandboxes a run may have: what is missing for each is looked for now. */
export async function sandboxChoice(host: DriverHost, chosen: SandboxName | null): Promise<SandboxChoice> {
  const problems = await Promise.all(SANDBOX_NAMES.map(async (name) => [name, await driverProblem(name, host)] as const));
  return { chosen, usual: usualSandbox(host.env), problems: Object.fromEntries(problems) as SandboxChoice["problems"] };
}
