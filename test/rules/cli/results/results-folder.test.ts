import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { followRun } from "../../../../src/cli/connection/follow-run.ts";
import { FolderMirror } from "../../../../src/cli/results/folder-mirror.ts";
import type { ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { outputBase, ResultsFolder, readPosition, resultsFolderOf } from "../../../../src/cli/results/results-folder.ts";
import { type MirrorBench, mirrorBench, RUN } from "../../../support/results/mirrored-run.ts";

let run: MirrorBench["run"];
let client: MirrorBench["client"];
let root: string;
let path: string;
let results: MirrorBench["results"];
let opened: MirrorBench["opened"];
mirrorBench((bench) => {
  ({ run, client, root, path, results, opened } = bench);
});

describe("a results folder", () => {
  it("holds every commit after a pull, and records how far it is", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    expect(results()).toBe("");
    run.commit(3, "a", "b");
    await folder.pull(client);
    expect(results()).toBe("a\nb\n");
    run.commit(5, "c");
    run.commit(9, "d");
    run.commitsPerAnswer = 1;
    await folder.pull(client);
    expect(results()).toBe("a\nb\nc\nd\n");
    expect(readPosition(path)).toEqual({ version: 1, run_id: RUN, seq: 9, bytes: 8, final: false });
    await folder.close();
  });

  it("that is left alone is not touched, not even where it cannot be written, until there is something to write", async () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "results.jsonl"), "as it is\n");
    const folder = await ResultsFolder.open(path, RUN, "leave");
    await folder.close();
    expect(readdirSync(path)).toEqual(["results.jsonl"]);
    run.commit(1, "{}");
    run.sorted = "{}\n";
    const begun = await ResultsFolder.open(path, RUN, "leave");
    await begun.pull(client);
    await begun.finalise(client);
    expect(readFileSync(join(path, "results.jsonl"), "utf8")).toBe("{}\n");
    expect(readPosition(path)).toMatchObject({ final: true });
  });

  it("whose final files another command has written is left alone: no unsorted row comes over them", async () => {
    const [first, second] = [await ResultsFolder.open(path, RUN, "rebuild"), await ResultsFolder.open(path, RUN, "continue")];
    run.commit(1, "b", "a");
    run.sorted = "a\nb\n";
    for (const folder of [first, second]) await folder.pull(client);
    await first.finalise(client);
    run.commit(2, "c");
    await second.pull(client);
    await second.pullMetadata(client);
    await second.pullLog(client);
    expect(results()).toBe("a\nb\n");
    await second.finalise(client);
    expect(results()).toBe("a\nb\n");
  });

  it("goes on after a crash from the recorded position, without what was written beyond it", async () => {
    const first = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "a");
    await first.pull(client);
    await first.close();
    writeFileSync(join(path, "results.jsonl"), 'a\n{"half');
    run.commit(2, "b");
    const second = await ResultsFolder.open(path, RUN, "continue");
    expect(results()).toBe("a\n");
    await second.pull(client);
    expect(results()).toBe("a\nb\n");
    await second.close();
  });

  it("grows by whole rows only: of an answer that breaks off nothing is written, and nothing is taken back", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "aaaa", "bbbb");
    run.cutAt = 7;
    const sizes = new Set<number>();
    const look = setInterval(() => sizes.add(results().length), 0);
    await expect(folder.pull(client)).rejects.toThrow();
    clearInterval(look);
    sizes.add(results().length);
    expect([...sizes]).toEqual([0]);
    await folder.pull(client);
    expect(results()).toBe("aaaa\nbbbb\n");
    await folder.close();
    writeFileSync(join(path, "results.jsonl"), "aaaa\n");
    const again = await ResultsFolder.open(path, RUN, "continue");
    expect(results()).toBe("aaaa\n");
    await again.pull(client);
    expect(results()).toBe("aaaa\nbbbb\n");
    await again.close();
  });

  it("starts again when the file is shorter than recorded, or another run's", async () => {
    const first = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "aaaa");
    await first.pull(client);
    await first.close();
    writeFileSync(join(path, "results.jsonl"), "aa");
    const second = await ResultsFolder.open(path, RUN, "continue");
    await second.pull(client);
    expect(results()).toBe("aaaa\n");
    await second.close();
    run.commits = [{ seq: 7, rows: ["other"] }];
    const third = await ResultsFolder.open(path, "00000000", "continue");
    await third.pull(client);
    expect(results()).toBe("other\n");
    await third.close();
  });

  it("starts again when the recorded position is damaged, and cuts no row", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "aaaa", "bbbb");
    await folder.pull(client);
    await folder.close();
    const recorded = readPosition(path);
    for (const damaged of [{ ...recorded, bytes: 7 }, { ...recorded, bytes: -3 }, { ...recorded, seq: -1 }, null, [], "x"]) {
      writeFileSync(join(path, ".edgewise.json"), JSON.stringify(damaged));
      const again = await ResultsFolder.open(path, RUN, "continue");
      expect(results()).toBe("aaaa\nbbbb\n");
      await again.pull(client);
      expect(results()).toBe("aaaa\nbbbb\n");
      expect(readPosition(path)).toEqual(recorded);
      await again.close();
    }
  });

  it("keeps the old rows in place until a rebuild has caught up", async () => {
    const first = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "old-1", "old-2");
    await first.pull(client);
    await first.close();
    run.commits = [{ seq: 1, rows: ["old-2"] }];
    const second = await ResultsFolder.open(path, RUN, "rebuild");
    expect(results()).toBe("old-1\nold-2\n");
    await second.pull(client);
    expect(results()).toBe("old-2\n");
    run.commit(2, "new-1");
    await second.pull(client);
    expect(results()).toBe("old-2\nnew-1\n");
    expect(readPosition(path)).toMatchObject({ seq: 2, bytes: 12 });
    await second.close();
    expect(readdirSync(path).sort()).toEqual([".edgewise.json", "results.jsonl"]);
  });

  it("keeps no part of an answer that broke off", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "a");
    await folder.pull(client);
    run.commit(2, "bbbbbbbb");
    run.cutAt = 3;
    await expect(folder.pull(client)).rejects.toThrow(/did not answer/);
    expect(results()).toBe("a\n");
    await folder.pull(client);
    expect(results()).toBe("a\nbbbbbbbb\n");
    await folder.close();
  });

  it("ends with the sorted file and the last metadata, and says that it is final", async () => {
    const folder = await ResultsFolder.open(path, RUN, "rebuild");
    run.commit(1, "b", "a");
    await folder.pull(client);
    run.sorted = "a\nb\n";
    run.metadata = `{"status":"COMPLETED"}\n`;
    await folder.finalise(client);
    expect(results()).toBe("a\nb\n");
    expect(readFileSync(join(path, "metadata.json"), "utf8")).toBe(run.metadata);
    expect(readFileSync(join(path, "eval.log"), "utf8")).toContain("hello");
    expect(readPosition(path)).toEqual({ version: 1, run_id: RUN, seq: 1, bytes: 4, final: true });
    expect(readdirSync(path).sort()).toEqual([".edgewise.json", "eval.log", "metadata.json", "results.jsonl"]);
    // A final file is sorted: appending to it would not be.
    const later = await ResultsFolder.open(path, RUN, "continue");
    await later.pull(client);
    expect(results()).toBe("b\na\n");
    await later.close();
  });
});

describe("a body whose reader never settles, not even when it is given up", () => {
  const standing = (): Response => {
    const never = (): Promise<never> => new Promise(() => undefined);
    return new Response(new ReadableStream({ pull: never, cancel: never }), { headers: { "x-edgewise-next": "1" } });
  };
  const soon = <T>(work: Promise<T>): Promise<T | "late"> => Promise.race([work, new Promise<"late">((resolve) => setTimeout(resolve, 20_000, "late"))]);

  it("does not keep the mirror from ending", async () => {
    let asked = 0;
    const answer = async (): Promise<Response> => {
      asked++;
      return standing();
    };
    const silent = { rows: answer, file: answer, log: answer } as unknown as ServiceClient;
    const mirror = new FolderMirror(await opened(), silent, { onFolder: () => undefined });
    mirror.start();
    await vi.waitFor(() => expect(asked).toBe(1), 20_000);
    expect(await soon(mirror.stop())).toBeUndefined();
  });

  it("does not keep a run from being followed to its end, nor an answer from being given up", async () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async () => standing());
    try {
      const given = new AbortController();
      const asked = client.run(RUN, { signal: given.signal });
      await vi.waitFor(() => expect(fetched).toHaveBeenCalled(), 20_000);
      given.abort(new Error("given up"));
      await expect(soon(asked)).rejects.toThrow("given up");
      fetched.mockImplementation(() => new Promise(() => undefined));
      await expect(soon(client.run(RUN, { signal: AbortSignal.timeout(50) }))).rejects.toThrow("timeout");
      await expect(soon(client.run(RUN, { timeoutMs: 20, retries: 0 }))).rejects.toThrow("no answer in time");
    } finally {
      fetched.mockRestore();
    }
  });

  it("is read to its state, and no further", async () => {
    const end = new TextEncoder().encode(`event: end\ndata: ${JSON.stringify({ settled: true })}\n\n`);
    const never = (): Promise<never> => new Promise(() => undefined);
    const events = async (): Promise<Response> =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(end), pull: never, cancel: never }));
    const watcher = { onState: () => undefined, onLog: () => undefined, onCommit: () => undefined };
    const follow = followRun({ events } as unknown as ServiceClient, RUN, { seq: 0 }, watcher, { patienceMs: 0, signal: new AbortController().signal });
    expect(await soon(follow)).toEqual({ settled: true });
  });
});

describe("where results go", () => {
  it("follows --output-dir, else the environment's own folder, else ./outputs", () => {
    expect(outputBase(root, "my-env", {})).toBe(join(root, "outputs"));
    mkdirSync(join(root, "environments", "my_env"), { recursive: true });
    expect(outputBase(root, "my-env", {})).toBe(join(root, "environments", "my_env", "outputs"));
    expect(outputBase(root, "my-env", { output_dir: "elsewhere" })).toBe(join(root, "elsewhere"));
    expect(resultsFolderOf("/b", "my-env", "a/b/c", RUN)).toBe(`/b/evals/my-env--a--b--c/${RUN}`);
  });

  it.runIf(existsSync("/proc/self"))("ends with an error where the system takes no folders", async () => {
    await expect(ResultsFolder.open(`/proc/outputs/evals/x--y/${RUN}`, RUN, "rebuild")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
