import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rowsOf, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

/** Computes in its rollout's sandbox, with a file that it puts there. */
const COMPUTING = `
import { defineEnvironment, Rubric, SandboxEnv, z } from "edgewise";
class Computing extends SandboxEnv {
  async setupState(state) {
    await super.setupState(state);
    await this.sandbox.ready(state.sandbox_id);
    await this.sandbox.writeFile(state.sandbox_id, "numbers", new TextEncoder().encode("20 22"));
    state.said = await this.runCommand(state, 'read a b < numbers; echo $((a + b)); ls /work 2>/dev/null | wc -l');
  }
}
export default defineEnvironment({
  id: "computing", version: "1.0.0", description: "Computes.", args: z.object({}),
  load: (_args, { sandbox }) => new Computing({
    sandbox: sandbox(), dataset: [{ question: "one" }, { question: "two" }],
    rubric: new Rubric([function right({ state }) { return state.said.startsWith("42") ? 1 : 0; }]),
  }),
});
`;

const walled = spawnSync("bwrap", ["--version"]).status === 0;

describe("an environment of one's own that needs a sandbox", () => {
  it.skipIf(!walled)("has one of this machine for each rollout, through the isolate that it runs in", async () => {
    writeFileSync(join(place.folder, "computing.ts"), COMPUTING);
    const { code, stderr } = await place.run(["eval", "run", "./computing.ts", "-m", "scripted", "-b", model.url, "-n", "2", "-r", "2"]);
    expect(code, stderr).toBe(0);
    const rows = rowsOf(place.resultsFolders()[0] ?? "");
    expect(rows.map(({ reward, error }) => [reward, error])).toEqual([1, 2, 3, 4].map(() => [1, null]));
  });

  it("is refused those that cannot be had before anything begins, with what is missing", async () => {
    writeFileSync(join(place.folder, "computing.ts"), COMPUTING);
    const { code, stderr } = await place.run(["eval", "run", "./computing.ts", "-m", "scripted", "-b", model.url, "--sandbox", "cloudflare"]);
    expect([code === 0, stderr]).toEqual([false, expect.stringMatching(/sandbox.*sandboxes of cloudflare cannot be had/)]);
    expect(place.resultsFolders()).toEqual([]);
  });
});
