import { Bubblewrap } from "./bubblewrap.ts";
import { cgroupPlace } from "./cgroups.ts";
import { Containers } from "./containers.ts";
import { ownFolder } from "./folders.ts";
import { LocalSandboxes } from "./local-sandboxes.ts";

/**
 * What this machine makes sandboxes with. `EDGEWISE_SANDBOX_NETWORK=1` lets those that ask for a network have this machine's;
 * `EDGEWISE_SANDBOX_CGROUPS=0` limits them as where no cgroup may be divided.
 */
export function sandboxesOfThisMachine(env: NodeJS.ProcessEnv, say?: (line: string) => void): LocalSandboxes {
  const cgroups = env.EDGEWISE_SANDBOX_CGROUPS === "0" ? null : cgroupPlace();
  const makers = [new Bubblewrap({ folder: ownFolder, cgroups, network: env.EDGEWISE_SANDBOX_NETWORK === "1" }), new Containers({ folder: ownFolder, env })];
  return new LocalSandboxes(makers, say);
}
