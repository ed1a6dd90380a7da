import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { cgroupPlace } from "../../../src/cli/sandboxes/cgroups.ts";
import { bubblewrapProblem, openMachine } from "../../support/environments/local-sandboxes.ts";
import { runningHere, uniqueSeconds } from "../../support/environments/processes-here.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";

const problem = await bubblewrapProblem();
if (problem !== null) console.log(`skipped: no sandboxes of this machine (${problem})`);

const user = process.getuid?.();
const base = join(user === 0 ? "/tmp" : tmpdir(), `edgewise-sandboxes-${user}`);
const groupsOf = (owner: string): readonly string[] => {
  const place = cgroupPlace();
  return place === null ? [] : [place.memory, place.pids].flatMap((folder) => readdirSync(folder).filter((name) => name.includes(owner)));
};

describe.runIf(problem === null)("a service that is killed", () => {
  const { driver, sandboxes } = openMachine();
  afterAll(() => sandboxes.close());

  it("leaves no process of a sandbox, and the next one to begin removes the rest: nobody else's", async () => {
    const own = await driver.create(SPEC);
    const seconds = uniqueSeconds();
    const holder = spawn(process.execPath, ["test/support/environments/sandbox-holder.ts", seconds], { stdio: ["ignore", "pipe", "inherit"] });
    let owner = "";
    // Its sandboxes end when its pipes close, which is before it has ended itself.
    const ended = new Promise((resolve) => holder.once("exit", resolve));
    holder.stdout.on("data", (bytes: Buffer) => {
      owner += bytes.toString();
    });
    try {
      await vi.waitFor(() => expect([owner.endsWith("\n"), runningHere(`sleep\0${seconds}`).length]).toEqual([true, 3]), { timeout: 20_000, interval: 50 });
    } finally {
      holder.kill("SIGKILL");
    }
    await ended;
    owner = owner.trim();
    await vi.waitFor(() => expect([runningHere(`sleep\0${seconds}`), runningHere(`${owner}/`)]).toEqual([[], []]), { timeout: 10_000, interval: 20 });
    expect(existsSync(join(base, owner))).toBe(true);
    await sandboxes.sweep();
    expect([existsSync(join(base, owner)), groupsOf(owner)]).toEqual([false, []]);
    expect((await driver.execute(own, "echo on", { timeoutSeconds: 10 })).stdout).toBe("on\n");
  }, 60_000);
});
