import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { FolderMirror } from "../../../../src/cli/results/folder-mirror.ts";
import { ResultsFolder, readPosition } from "../../../../src/cli/results/results-folder.ts";
import { type MirrorBench, mirrorBench, RUN } from "../../../support/results/mirrored-run.ts";

let run: MirrorBench["run"];
let service: MirrorBench["service"];
let client: MirrorBench["client"];
let path: string;
let results: MirrorBench["results"];
let opened: MirrorBench["opened"];
mirrorBench((bench) => {
  ({ run, service, client, path, results, opened } = bench);
});

describe("the mirror of a run", () => {
  it("shows a commit in the folder by itself, and metadata too", async () => {
    const mirror = new FolderMirror(await opened(), client, { onFolder: () => undefined });
    mirror.start();
    run.commit(1, "a");
    mirror.noteChange("rows");
    await vi.waitFor(() => expect(results()).toBe("a\n"), 20_000);
    await vi.waitFor(() => expect(existsSync(join(path, "metadata.json"))).toBe(true), 20_000);
    await mirror.stop();
  });

  it("asks for metadata at most once a second, however often something changes", async () => {
    const mirror = new FolderMirror(await opened(), client, { onFolder: () => undefined });
    const begin = performance.now();
    mirror.start();
    for (let i = 0; i < 15; i += 1) {
      mirror.noteChange("rows");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await mirror.stop();
    // Two in the second and a half that this takes.
    const seconds = Math.floor((performance.now() - begin) / 1_000);
    expect(service.asked.filter((request) => request.path.endsWith("metadata.json")).length).toBeLessThanOrEqual(1 + seconds);
  });

  it("looks no more often than it is told to", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    const mirror = new FolderMirror(folder, client, { onFolder: () => undefined, pollMs: 60_000 });
    mirror.start();
    for (let seq = 1; seq <= 4; seq += 1) {
      run.commit(seq, String(seq));
      mirror.noteChange("rows");
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await mirror.stop();
    expect(service.asked.filter((request) => request.path.endsWith("/rows"))).toHaveLength(1);
    await mirror.catchUp();
    expect(results()).toBe("1\n2\n3\n4\n");
    await folder.close();
  });

  it("writes nothing while rows of the folder are still to be taken over", async () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "results.jsonl"), "of the folder\n");
    const mirror = new FolderMirror(await opened(), client, { onFolder: () => undefined });
    mirror.held = true;
    mirror.start();
    await new Promise((resolve) => setTimeout(resolve, 400));
    await mirror.stop();
    await mirror.catchUp();
    await mirror.finalise();
    expect(service.asked).toEqual([]);
    expect(readdirSync(path)).toEqual(["results.jsonl"]);
    expect(results()).toBe("of the folder\n");
  });

  it("says once that the folder cannot be written, tries again, and says once that it can", async () => {
    const told: unknown[] = [];
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    const mirror = new FolderMirror(folder, client, { onFolder: (error) => told.push(error), pollMs: 20, againMs: [20, 40] });
    // In the way of the file that metadata.json is renamed to.
    mkdirSync(join(path, "metadata.json", "x"), { recursive: true });
    run.commit(1, "a");
    mirror.start();
    await vi.waitFor(() => expect(told).toEqual([expect.objectContaining({ code: expect.stringMatching(/^E/) })]), 10_000);
    // What can be written is.
    expect(results()).toBe("a\n");
    const tries = (): number => service.asked.filter((request) => request.path.endsWith("metadata.json")).length;
    await vi.waitFor(() => expect(tries()).toBeGreaterThan(2), 20_000);
    expect(told).toHaveLength(1);
    run.sorted = "a\n";
    await mirror.stop();
    await mirror.finalise();
    expect(told).toHaveLength(1);
    rmSync(join(path, "metadata.json"), { recursive: true });
    mirror.start();
    await vi.waitFor(() => expect(told).toEqual([expect.anything(), null]), 20_000);
    await mirror.stop();
    await mirror.finalise();
    expect([readPosition(path)?.final, readFileSync(join(path, "metadata.json"), "utf8")]).toEqual([true, run.metadata]);
  }, 60_000);

  it("takes a folder over later that could not be at first, and begins one anew that was removed", async () => {
    const told: unknown[] = [];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "in the way");
    const folder = new ResultsFolder(path, RUN, "rebuild");
    await expect(folder.begin()).rejects.toThrow();
    const mirror = new FolderMirror(folder, client, { onFolder: (error) => told.push(error), failure: new Error("as was said"), pollMs: 20 });
    run.commit(1, "a");
    mirror.start();
    rmSync(path);
    await vi.waitFor(() => expect(told).toEqual([null]), 20_000);
    expect(results()).toBe("a\n");
    rmSync(path, { recursive: true });
    run.commit(2, "b");
    mirror.noteChange("rows");
    mirror.noteChange("log");
    await vi.waitFor(() => expect(results()).toBe("a\nb\n"), 20_000);
    await vi.waitFor(() => expect(existsSync(join(path, "eval.log"))).toBe(true), 20_000);
    await mirror.stop();
    await folder.close();
  }, 60_000);

  it("survives a service that does not answer for a while", async () => {
    const failures: unknown[] = [];
    const mirror = new FolderMirror(await opened(), client, { onFolder: (error) => failures.push(error) });
    run.commit(1, "aaaa");
    run.cutAt = 2;
    mirror.start();
    await vi.waitFor(() => expect(results()).toBe("aaaa\n"), 20_000);
    await mirror.stop();
    expect(failures).toEqual([]);
  });
});

describe("the log in a results folder", () => {
  const log = (): string => readFileSync(join(path, "eval.log"), "utf8");
  const asked = (): (string | null)[] => service.asked.filter((request) => request.path.endsWith("eval.log")).map(({ query }) => query.get("after"));

  it("is fetched once, in pages, and then grows by what is new; what is there stays as it is", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    run.log = Array.from({ length: 5 }, (_, index) => ({ seq: 2 * index + 1, line: `line ${index}` }));
    run.eventsPerAnswer = 2;
    await folder.pullLog(client);
    expect(asked()).toEqual(["0", "3", "7"]);
    const { ino } = statSync(join(path, "eval.log"));
    run.log.push({ seq: 12, line: "one more" });
    await folder.pullLog(client);
    await folder.pullLog(client);
    expect(asked().slice(3)).toEqual(["9", "12"]);
    expect(log()).toBe("line 0\nline 1\nline 2\nline 3\nline 4\none more\n");
    expect(statSync(join(path, "eval.log")).ino).toBe(ino);
    run.sorted = "";
    writeFileSync(join(path, "eval.log"), "somebody's\n");
    await folder.finalise(client);
    expect(log()).toBe("line 0\nline 1\nline 2\nline 3\nline 4\none more\n");
    expect(readdirSync(path).sort()).toEqual([".edgewise.json", "eval.log", "metadata.json", "results.jsonl"]);
  });

  it("is written whole each time where a service of before sends no less", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    run.isOld = true;
    await folder.pullLog(client);
    run.log.push({ seq: 2, line: "again" });
    await folder.pullLog(client);
    expect(log()).toBe("hello\nagain\n");
    await folder.close();
  });

  it("is not asked for while only rows are committed", async () => {
    const mirror = new FolderMirror(await opened(), client, { onFolder: () => undefined, pollMs: 20 });
    mirror.start();
    await vi.waitFor(() => expect(asked()).toHaveLength(1), 20_000);
    for (let seq = 1; seq <= 3; seq += 1) {
      run.commit(seq, String(seq));
      mirror.noteChange("rows");
      await vi.waitFor(() => expect(results().split("\n")).toHaveLength(seq + 1), 20_000);
    }
    expect(asked()).toHaveLength(1);
    mirror.noteChange("log");
    await vi.waitFor(() => expect(asked()).toEqual(["0", "1"]), 20_000);
    await mirror.stop();
  });
});
