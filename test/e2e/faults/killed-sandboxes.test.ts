import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { keysOf, rowsOf, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { bubblewrapProblem } from "../../support/environments/local-sandboxes.ts";
import { runningHere, uniqueSeconds } from "../../support/environments/processes-here.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

const problem = await bubblewrapProblem();
if (problem !== null) console.log(`skipped: no sandboxes of this machine (${problem})`);

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

/** Each rollout leaves a process behind in its sandbox, and stays there for a moment. */
const leaving = (seconds: string): string => `
import { defineEnvironment, Rubric, SandboxEnv, z } from "edgewise";
class Leaving extends SandboxEnv {
  async setupState(state) {
    await super.setupState(state);
    state.said = await this.runCommand(state, "setsid sleep ${seconds} > /dev/null 2>&1 & sleep 0.4; ls /proc | grep -c '^[0-9]'");
  }
}
export default defineEnvironment({
  id: "leaving", version: "1.0.0", description: "Leaves.", args: z.object({}),
  load: (_args, { sandbox }) => new Leaving({
    sandbox: sandbox(), dataset: Array.from({ length: 12 }, (_, at) => ({ question: "number " + at })),
    rubric: new Rubric([function right({ state }) { return Number(state.said) > 0 ? 1 : 0; }]),
  }),
});
`;
const KILLS = 4;

describe.runIf(problem === null)("a command whose rollouts have sandboxes of this machine", () => {
  it("leaves none when it is killed, and every row is there once in the end", async () => {
    const seconds = uniqueSeconds();
    const left = (): readonly string[] => runningHere(`sleep\0${seconds}`);
    writeFileSync(join(place.folder, "leaving.ts"), leaving(seconds));
    const begin = (): ReturnType<Workplace["start"]> => {
      const found = place.resultsFolders()[0];
      const run = ["eval", "run", "./leaving.ts", "-m", "scripted", "-b", model.url, "-n", "12", "-r", "2", "-c", "2"];
      return place.start(found === undefined ? run : ["eval", "run", "./leaving.ts", "-R", found]);
    };
    for (let kill = 0; kill < KILLS; kill++) {
      const command = begin();
      await vi.waitFor(() => expect(left().length, command.stderr()).toBeGreaterThan(0), { timeout: 60_000, interval: 10 });
      command.child.kill("SIGKILL");
      await command.ended;
      await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 10_000, interval: 20 });
    }
    const last = begin();
    expect(await last.ended, last.stderr()).toBe(0);
    expect(left()).toEqual([]);
    const folder = place.results;
    expect([new Set(keysOf(folder)).size, rowsOf(folder).length, rowsOf(folder).filter(({ reward }) => reward === 1).length]).toEqual([24, 24, 24]);
  }, 240_000);
});
