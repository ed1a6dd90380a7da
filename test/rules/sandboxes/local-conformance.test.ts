import { afterAll } from "vitest";
import { bubblewrapProblem, openMachine } from "../../support/environments/local-sandboxes.ts";
import { sandboxConformance } from "../../support/environments/sandbox-conformance.ts";

const problem = await bubblewrapProblem();
if (problem !== null) console.log(`skipped: no sandboxes of this machine (${problem})`);
else
  for (const [name, env] of [
    ["this machine, limited by cgroups where it may divide them", {}],
    ["this machine, watched in place of that", { EDGEWISE_SANDBOX_CGROUPS: "0" }],
  ] as const) {
    const { driver, sandboxes } = openMachine(env);
    afterAll(() => sandboxes.close());
    sandboxConformance(name, () => driver);
  }
