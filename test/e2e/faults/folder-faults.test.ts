import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keysOf, metadataOf, until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
const mounts: string[] = [];
beforeEach(async () => {
  place = new Workplace();
  model = await startModelServer();
});
afterEach(async () => {
  for (const path of mounts.splice(0)) spawnSync("umount", ["-l", path]);
  place.remove();
  await model.close();
});

const reverse = (...more: readonly string[]): string[] => ["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, ...more];
const keys = (examples: number): string[] => Array.from({ length: examples }, (_, index) => `${index}/0`);

/** A disk of its own for the results, of `kib` KiB; null where this user may not mount one. */
function smallDisk(kib: number): string | null {
  const path = join(place.folder, "small");
  mkdirSync(path);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs", path]).status !== 0) return null;
  mounts.push(path);
  return path;
}

/** Rows of some 4 KB each. */
const LONG_ROWS = ["-a", '{"min_words": 100, "max_words": 100}'];

/** Puts another byte where the first of these texts stands in an object of the state. */
function damageRow(state: string, text: string): void {
  const blobs = join(state, "v1/r2/edgewise/blobs");
  for (const name of readdirSync(blobs)) {
    const bytes = readFileSync(join(blobs, name));
    const at = bytes.indexOf(text);
    if (at === -1) continue;
    bytes[at] = 0x21;
    writeFileSync(join(blobs, name), bytes);
    return;
  }
  throw new Error(`nothing of the state holds ${text}`);
}

describe("a stored row that has been damaged", () => {
  it("is named by its line at the end of the run, and made again as the message says", { timeout: 120_000 }, async () => {
    model.setScript({ latency_ms: 100 });
    const cli = place.start(reverse("-n", "20", "-r", "1", "-c", "1"));
    await until(
      () => place.resultsFolders().some((folder) => existsSync(join(folder, "results.jsonl")) && keysOf(folder).length > 4),
      60_000,
      () => cli.stderr(),
    );
    cli.interrupt();
    await cli.ended;
    damageRow(place.state, '"reward":');
    const [folder = ""] = place.resultsFolders();
    const ended = await place.run(reverse("-R", folder));
    expect(ended.code, ended.stderr).toBe(1);
    const [, line = "", command = ""] = /results\.jsonl, line (\d+), is no row: .*\n {2}Remove that line, .*: npx edgewise (.*)$/m.exec(ended.stderr) ?? [];
    const rows = readFileSync(join(folder, "results.jsonl"), "utf8").split("\n");
    writeFileSync(join(folder, "results.jsonl"), rows.filter((_, index) => index !== Number(line) - 1).join("\n"));
    const again = await place.run([...command.split(" "), "-m", "scripted", "-b", model.url]);
    expect(again.code, again.stderr).toBe(0);
    expect(keysOf(folder)).toEqual(keys(20));
    expect(model.ledger.stats().total).toBeLessThanOrEqual(20 + 1 + 1);
  });
});

describe("a results folder on a disk without room", () => {
  it("is tried again while the run lasts, and whole in the end once there is room", { timeout: 120_000 }, async ({ skip }) => {
    const disk = smallDisk(512);
    if (disk === null) return skip("only root may mount a disk of its own");
    const filler = join(disk, "filler");
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 64 * 1024));
    model.setScript({ latency_ms: 100 });
    const cli = place.start(reverse("-n", "60", "-r", "1", "-c", "2", "-o", "small", ...LONG_ROWS));
    // More than there is room for, and not all of them: the run lasts until it has been said.
    await until(() => model.ledger.stats().total >= 40, 60_000);
    const release = model.hold();
    await cli.says(/small\/evals.* cannot be written: .*tried again/, 60_000);
    const asked = model.ledger.stats().total;
    release();
    rmSync(filler);
    await cli.says(/small\/evals.* can be written again\./, 60_000);
    expect(await cli.ended, cli.stderr()).toBe(0);
    expect(cli.stderr().match(/cannot be written/g)).toHaveLength(1);
    expect(cli.stdout()).toMatch(/^Results: small\/evals\/\S+$/m);
    expect(asked).toBeLessThan(60);
    expect(model.ledger.stats().total).toBe(60);
    const [folder = ""] = place.resultsFolders("small");
    expect(keysOf(folder)).toEqual(keys(60));
    expect(metadataOf(folder)).toMatchObject({ avg_reward: 1, edgewise: { status: "COMPLETED" } });
    expect(readFileSync(join(folder, "eval.log"), "utf8")).toMatch(/COMPLETED/);
  });

  it("that never has any ends with 1, and the line that is printed makes it whole", { timeout: 120_000 }, async ({ skip }) => {
    const disk = smallDisk(512);
    if (disk === null) return skip("only root may mount a disk of its own");
    const filler = join(disk, "filler");
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 64 * 1024));
    const ended = await place.run(reverse("-n", "60", "-r", "1", "-o", "small", ...LONG_ROWS));
    expect(ended.code, ended.stderr).toBe(1);
    expect(ended.stderr.match(/cannot be written/g)).toHaveLength(1);
    expect(ended.stdout).toMatch(/^Results: in the service only, since .*small\/evals\/.* could not be written/m);
    const [, command = ""] = /^Resume: npx edgewise (.*)$/m.exec(ended.stdout) ?? [];
    rmSync(filler);
    const again = await place.run(command.split(" "));
    expect(again.code, again.stderr).toBe(0);
    const [folder = ""] = place.resultsFolders("small");
    expect(keysOf(folder)).toEqual(keys(60));
    expect(model.ledger.stats().total).toBe(60);
  });

  it("that cannot be made at first is made once it can be", { timeout: 120_000 }, async () => {
    const taken = join(place.folder, "taken");
    writeFileSync(taken, "");
    model.setScript({ latency_ms: 100 });
    const cli = place.start(reverse("-n", "100", "-r", "1", "-c", "2", "-o", "taken"));
    await cli.says(/taken\/evals.* cannot be written/, 60_000);
    rmSync(taken);
    expect(await cli.ended, cli.stderr()).toBe(0);
    const [folder = ""] = place.resultsFolders("taken");
    expect(keysOf(folder)).toEqual(keys(100));
    await until(() => metadataOf(folder).edgewise.status === "COMPLETED", 1000);
  });
});

describe("a results folder whose rows are gone while the state is intact", () => {
  it("is written again by -R and its path; one that is gone whole is told with the id, by which it is", { timeout: 120_000 }, async () => {
    expect((await place.run(reverse("-n", "6", "-r", "1"))).code).toBe(0);
    const folder = place.results;
    const rows = readFileSync(join(folder, "results.jsonl"), "utf8");
    const { run_id } = metadataOf(folder).edgewise;
    for (const gone of [["results.jsonl"], ["results.jsonl", ".edgewise.json"], ["results.jsonl", ".edgewise.json", "metadata.json"]]) {
      for (const name of gone) rmSync(join(folder, name));
      const again = await place.run(["eval", "reverse-text", "-R", folder]);
      expect(again, gone.join()).toMatchObject({ code: 0, stderr: expect.stringContaining(`-R ${run_id}`) });
      expect(readFileSync(join(folder, "results.jsonl"), "utf8")).toBe(rows);
    }
    rmSync(folder, { recursive: true });
    const refused = await place.run(["eval", "reverse-text", "-R", folder]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`-R ${run_id} goes on with it`) });
    const byId = await place.run(["eval", "reverse-text", "-R", run_id]);
    expect(byId.code, byId.stderr).toBe(0);
    expect(readFileSync(join(folder, "results.jsonl"), "utf8")).toBe(rows);
    expect(metadataOf(folder)).toMatchObject({ avg_reward: 1, edgewise: { run_id } });
    expect(model.ledger.stats().total).toBe(6);
  });
});

describe("an older copy of the state beside a folder", () => {
  const copy = (): string => join(place.folder, "copy");

  /** A run that is cut short, its state copied, the run finished, and the copy put back. */
  async function withOlderState(): Promise<string> {
    model.setScript({ latency_ms: 50 });
    const cli = place.start(reverse("-n", "40", "-r", "1", "-c", "2", "--order", "data"));
    await until(() => model.ledger.stats().total > 12, 20_000);
    cli.interrupt();
    expect(await cli.ended).toBe(130);
    cpSync(place.state, copy(), { recursive: true });
    expect((await place.run(["eval", "reverse-text", "-R", place.results])).code).toBe(0);
    rmSync(place.state, { recursive: true });
    cpSync(copy(), place.state, { recursive: true });
    return place.results;
  }

  it("that is further is gone on with, and no row of it is asked for or written again", { timeout: 120_000 }, async () => {
    const folder = await withOlderState();
    const rows = readFileSync(join(folder, "results.jsonl"), "utf8");
    const calls = model.ledger.stats().total;
    const again = await place.run(["eval", "reverse-text", "-R", folder]);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(/has 40 rollouts, and the service \d+ of run [0-9a-f]{8}, .* as a new run/);
    expect([model.ledger.stats().total, readFileSync(join(folder, "results.jsonl"), "utf8")]).toEqual([calls, rows]);
    const grown = await place.run(["eval", "reverse-text", "-R", folder, "-n", "43"]);
    expect(grown.code, grown.stderr).toBe(0);
    expect(keysOf(folder)).toEqual(keys(43));
    expect(model.ledger.stats().total).toBe(calls + 3);
  });

  it("that lacks what the state has is refused, and nothing is changed", { timeout: 120_000 }, async () => {
    const folder = await withOlderState();
    const results = join(folder, "results.jsonl");
    const lacking = readFileSync(results, "utf8").split("\n").slice(2).join("\n");
    writeFileSync(results, lacking);
    const calls = model.ledger.stats().total;
    const refused = await place.run(["eval", "reverse-text", "-R", folder]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/disagree .* \d+ rollouts are in the folder alone, 2 in the service alone/) });
    expect([model.ledger.stats().total, readFileSync(results, "utf8")]).toEqual([calls, lacking]);
    // The way out that is named for the folder's rows works.
    const fresh = await place.run(["eval", "reverse-text", "-R", folder, "--fresh-state"]);
    expect(fresh.code, fresh.stderr).toBe(0);
    expect(keysOf(folder)).toEqual(keys(40));
    expect(model.ledger.stats().total).toBe(calls + 2);
  });
});
