import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { HubClient } from "../../../src/hub/hub-client.ts";
import { configPath, type Pushed, type PushRun, pushRuns } from "../../../src/hub/push.ts";
import type { PushFile } from "../../../src/hub/push-file.ts";
import { freshCard } from "../../../src/hub/pushed-card.ts";
import { type MockHubOptions, MockHub, TOKEN } from "../../support/mock-hub/mock-hub.ts";

const ID = "me/rollouts";
const KIB = 1024;

/** Bytes that are others for each seed. */
const noise = (seed: number, length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => Math.imul(seed + at + 1, 2654435761) >>> 24);

async function file(path: string, bytes: Uint8Array): Promise<PushFile> {
  const read = async (offset: number, length: number): Promise<ReadableStream<Uint8Array>> =>
    new Response(bytes.slice(offset, offset + length) as Uint8Array<ArrayBuffer>).body as ReadableStream<Uint8Array>;
  return { path, size: bytes.byteLength, sha256: await sha256Hex(bytes), read };
}

/** A run of so many files, the last of them larger. */
async function runOf(config: string, run: string, shards = 2, seed = 1): Promise<PushRun> {
  const files = Array.from({ length: shards }, (_, at) => {
    const path = `${config}/train-${String(at).padStart(5, "0")}-of-${String(shards).padStart(5, "0")}.parquet`;
    return file(path, noise(seed + at, (at + 1) * 100 * KIB));
  });
  const all = await Promise.all(files);
  const statement = { config, metrics: [], files: all.map(({ path, sha256 }) => ({ path, rows: 1, sha256 })), runs: [] };
  return { config, run, path: configPath(config), section: `## ${config}\n\nText of ${run}.`, statement, files: all };
}

const clientOf = (hub: MockHub, token = TOKEN): HubClient =>
  new HubClient({ endpoint: "https://hub.example", token, fetch: (url, init) => hub.fetch(url, init), sleep: async () => undefined });

const push = (
  hub: MockHub,
  runs: readonly PushRun[],
  change: { visibility?: "private" | "public"; token?: string; id?: string } = {},
): Promise<Pushed | null> =>
  pushRuns(clientOf(hub, change.token), {
    ...{ id: change.id ?? ID, visibility: change.visibility ?? "private", runs, card: freshCard(["arithmetic"]), summary: "Rows", tell: () => undefined },
  });

const MULTIPART: MockHubOptions = { multipart: { from: 150 * KIB, chunk: 64 * KIB }, page: 1 };

/** What a push does that nothing disturbs. */
async function undisturbed(run: PushRun): Promise<{ tree: Readonly<Record<string, string>>; requests: number }> {
  const hub = new MockHub(MULTIPART);
  await push(hub, [run]);
  return { tree: hub.tree(ID), requests: hub.asked.length };
}

describe("a push to the Hub", () => {
  it("makes a private data set with one commit: files by their digests, in parts where the Hub says so, and a card", async () => {
    const hub = new MockHub(MULTIPART);
    const run = await runOf("first", "0000aaaa");
    expect(await push(hub, [run])).toMatchObject({
      created: true,
      isPrivate: true,
      url: "https://hub.example/datasets/me/rollouts",
      commit: hub.head(ID)?.oid,
    });
    expect([hub.problems, hub.commits(ID).length, hub.repositories.get(ID)?.isPrivate]).toEqual([[], 1, true]);
    expect(hub.tree(ID)).toMatchObject(Object.fromEntries(run.files.map(({ path, sha256 }) => [path, sha256])));
    expect(hub.asked.filter((line) => line.startsWith("PUT /lfs/part/"))).toHaveLength(4);
    expect(hub.text(ID, "README.md")).toContain(
      "configs:\n- config_name: first\n  default: true\n  data_files:\n  - split: train\n    path: first/train-*.parquet\nedgewise:\n  version: 2\n  configs:\n  - { config: first, ",
    );
  });

  it.each(["before", "after"] as const)("that is cut off %s any of its requests, and repeated, ends in one commit and the same tree", async (when) => {
    const run = await runOf("first", "0000aaaa");
    const { tree, requests } = await undisturbed(run);
    expect(requests).toBeGreaterThan(12);
    for (let at = 1; at <= requests; at++) {
      const hub = new MockHub(MULTIPART);
      // Nothing more goes through: the process is gone.
      hub.cut = { at, when };
      const dead: HubClient = new HubClient({
        ...{ endpoint: "https://hub.example", token: TOKEN, sleep: async () => undefined },
        fetch: async (url, init) => {
          if (hub.asked.length >= at) throw new Error("killed");
          return await hub.fetch(url, init);
        },
      });
      const options = { id: ID, visibility: "private" as const, runs: [run], card: freshCard(["arithmetic"]), summary: "Rows", tell: () => undefined };
      await expect(pushRuns(dead, options)).rejects.toThrow();
      hub.cut = null;
      await push(hub, [run]);
      expect([at, hub.commits(ID).length, hub.tree(ID), hub.problems]).toEqual([at, 1, tree, []]);
    }
  });

  it("goes on by itself where a request is lost, or the Hub is busy", async () => {
    const run = await runOf("first", "0000aaaa");
    const { tree, requests } = await undisturbed(run);
    for (const when of ["before", "after"] as const)
      for (let at = 1; at <= requests; at++) {
        const hub = new MockHub(MULTIPART);
        hub.cut = { at, when };
        await push(hub, [run]);
        expect([when, at, hub.commits(ID).length, hub.tree(ID), hub.problems]).toEqual([when, at, 1, tree, []]);
      }
    const hub = new MockHub();
    hub.faults.push(
      { to: "POST /api/datasets/me/rollouts/commit/main", status: 503 },
      { to: "PUT /lfs/", status: 500 },
      { to: "POST /api/repos", status: 429 },
    );
    await push(hub, [run]);
    expect(hub.commits(ID)).toHaveLength(1);
  });

  it("changes nothing the second time, and asks for no upload", async () => {
    const hub = new MockHub(MULTIPART);
    const run = await runOf("first", "0000aaaa");
    await push(hub, [run]);
    hub.asked.length = 0;
    expect(await push(hub, [run])).toMatchObject({ created: false, commit: null });
    expect([hub.commits(ID).length, hub.asked.filter((line) => !line.startsWith("GET "))]).toEqual([1, []]);
  });

  it("of a second run adds its config and keeps the first, and what people wrote in the card", async () => {
    const hub = new MockHub();
    await push(hub, [await runOf("first", "0000aaaa")]);
    const written = hub
      .text(ID, "README.md")
      .replace("tags:", "license: mit # ours\ntags:")
      .replace("Text of 0000aaaa.", "Text of 0000aaaa.")
      .replace("# arithmetic", "Read this first.\n\n# arithmetic");
    await hub.put(ID, { "README.md": `${written}\n## Thanks\n\nTo all.\n` });
    await push(hub, [await runOf("second", "0000bbbb", 1, 7)]);
    const card = hub.text(ID, "README.md");
    expect(card).toContain("license: mit # ours\n");
    expect(card).toContain("Read this first.\n\n# arithmetic");
    expect(card).toMatch(/\n## Thanks\n\nTo all\.\n$/);
    expect(card).toContain("- config_name: second\n  data_files:\n  - split: train\n    path: second/train-*.parquet\n");
    expect(card).toMatch(/Text of 0000aaaa\.[\s\S]*Text of 0000bbbb\.[\s\S]*## Columns/);
    expect(card.match(/default: true/g)).toHaveLength(1);
    expect(Object.keys(hub.tree(ID))).toEqual([
      ...[".gitattributes", "README.md", "first/train-00000-of-00002.parquet", "first/train-00001-of-00002.parquet", "second/train-00000-of-00001.parquet"],
    ]);
    expect(hub.problems).toEqual([]);
  });

  it("of a run that has other rows now takes the place of what was there of it", async () => {
    const hub = new MockHub(MULTIPART);
    await push(hub, [await runOf("first", "0000aaaa", 3)]);
    const run = { ...(await runOf("first", "0000aaaa", 1, 9)), section: "## first\n\nAnew." };
    await push(hub, [run]);
    expect(Object.keys(hub.tree(ID))).toEqual([".gitattributes", "README.md", "first/train-00000-of-00001.parquet"]);
    expect(hub.text(ID, "README.md")).toContain("Anew.");
    expect(hub.text(ID, "README.md")).not.toContain("Text of 0000aaaa.");
  });

  it("states the files of each config to programs, beside those of an export that was there, and nothing twice", async () => {
    const hub = new MockHub();
    const front = (): { edgewise: unknown } => parse(/^---\n([\s\S]*?)\n---\n/.exec(hub.text(ID, "README.md"))?.[1] ?? "") as { edgewise: unknown };
    const own = { metrics: ["m"], files: [{ path: "data/train-00000-of-00001.parquet", rows: 4 }], runs: [{ run_id: "x" }] };
    const configs = [{ config_name: "default", data_files: [{ split: "train", path: "data/train-*.parquet" }] }];
    await hub.put(ID, { "README.md": `---\n${stringify({ configs, edgewise: { version: 1, ...own } })}---\nAn export.\n` });
    const [first, second] = [await runOf("first", "0000aaaa"), await runOf("second", "0000bbbb")];
    await push(hub, [first]);
    await push(hub, [second]);
    expect(front().edgewise).toEqual({ version: 2, ...own, configs: [first.statement, second.statement] });
    expect(await push(hub, [second, first])).toMatchObject({ commit: null });
    // It was resumed.
    const anew = { ...(await runOf("first", "0000aaaa", 1, 9)) };
    await push(hub, [anew]);
    expect(front().edgewise).toEqual({ version: 2, ...own, configs: [anew.statement, second.statement] });
  });

  it.each([
    ["edgewise: ours\n", "is nothing that this version of Edgewise writes."],
    ["edgewise:\n  version: 99\n", "is nothing that this version of Edgewise writes (version 99)."],
  ])("leaves a card alone that states something else (%j)", async (line, message) => {
    const hub = new MockHub();
    await hub.put(ID, { "README.md": `---\n${line}---\nOurs\n` });
    await expect(push(hub, [await runOf("first", "0000aaaa")])).rejects.toMatchObject({ code: "hub_refused", message: expect.stringContaining(message) });
    expect(hub.text(ID, "README.md")).toBe(`---\n${line}---\nOurs\n`);
  });

  it("that somebody else is faster than is made on top of theirs, with both", async () => {
    const hub = new MockHub();
    await push(hub, [await runOf("first", "0000aaaa")]);
    const other = await runOf("other", "0000cccc", 1, 5);
    hub.beforeCommit = async () => {
      hub.beforeCommit = null;
      await push(hub, [other]);
    };
    await push(hub, [await runOf("second", "0000bbbb", 1, 7)]);
    const card = hub.text(ID, "README.md");
    expect(["first", "other", "second"].map((config) => card.includes(`config_name: ${config}\n`))).toEqual([true, true, true]);
    expect([hub.commits(ID).length, hub.problems]).toEqual([3, []]);
    // Somebody who always is.
    let count = 0;
    hub.beforeCommit = async () => hub.put(ID, { "notes.md": String(count++) });
    await expect(push(hub, [await runOf("third", "0000dddd", 1, 8)])).rejects.toMatchObject({
      code: "hub_refused",
      message: /Others changed me\/rollouts 6 times/,
    });
  });
});

describe("a push that cannot be", () => {
  it.each([
    ["a token that the Hub does not know", { token: "hf_wrong" }, /does not accept the token/],
    ["a token that may not write there", { token: "hf_reads" }, /could not be made: the token may not write to me\/rollouts \(status 403: You don't have/],
    ["a name of somebody else that the token may not see", { id: "other/rollouts" }, /could not be made: the token may not write to other\/rollouts/],
  ])("%s", async (_, change, message) => {
    const hub = new MockHub({ users: { [TOKEN]: { name: "me", writes: ["me"] }, hf_reads: { name: "me", writes: [] } } });
    await expect(push(hub, [await runOf("first", "0000aaaa")], change)).rejects.toMatchObject({
      code: "hub_refused",
      message: expect.stringMatching(message),
      hint: expect.anything(),
    });
  });

  it("says so of a token that may see the data set and not write to it", async () => {
    const hub = new MockHub({ users: { [TOKEN]: { name: "me", writes: ["me"] }, hf_reads: { name: "other", writes: [] } } });
    await hub.put(ID, { "notes.md": "" }, false);
    await expect(push(hub, [await runOf("first", "0000aaaa")], { token: "hf_reads", visibility: "public" })).rejects.toMatchObject({
      message: expect.stringMatching(/the token may not write to me\/rollouts/),
      hint: expect.stringContaining("HF_TOKEN"),
    });
  });

  it("to a data set that everybody sees needs --public, and one that is private stays so", async () => {
    const hub = new MockHub();
    await hub.put(ID, { "notes.md": "" }, false);
    const run = await runOf("first", "0000aaaa");
    await expect(push(hub, [run])).rejects.toMatchObject({
      message: "The data set me/rollouts is seen by everybody.",
      hint: expect.stringContaining("--public"),
    });
    expect(await push(hub, [run], { visibility: "public" })).toMatchObject({ isPrivate: false, created: false });
    await push(hub, [run], { id: "me/hidden" });
    expect(await push(hub, [await runOf("second", "0000bbbb")], { id: "me/hidden", visibility: "public" })).toMatchObject({ isPrivate: true });
  });

  it("never takes a config of something else", async () => {
    const hub = new MockHub();
    await push(hub, [await runOf("first", "0000aaaa")]);
    await expect(push(hub, [await runOf("first", "0000bbbb")])).rejects.toMatchObject({ message: "me/rollouts has a config first already, of run 0000aaaa." });
    await hub.put("me/own", { "README.md": "---\nconfigs:\n- config_name: first\n  data_files: rows.csv\n---\nOurs\n", "rows.csv": "a\n1\n" });
    await expect(push(hub, [await runOf("first", "0000bbbb")], { id: "me/own" })).rejects.toMatchObject({
      message: /has a config first already, with other files/,
    });
    await hub.put("me/plain", { "rows.csv": "a\n1\n" });
    await expect(push(hub, [await runOf("first", "0000bbbb")], { id: "me/plain" })).rejects.toMatchObject({
      message: /has data files \(rows\.csv\) that no config of its card names/,
    });
    await hub.put("me/broken", { "README.md": "---\na: [\n---\nOurs\n" });
    await expect(push(hub, [await runOf("first", "0000bbbb")], { id: "me/broken" })).rejects.toMatchObject({
      message: /The front matter of the card of me\/broken is no YAML/,
    });
  });

  it("has the token in no error, whatever the Hub says", async () => {
    const hub = new MockHub();
    const answers: { to: string; status: number; body?: string; headers?: Record<string, string> }[] = [
      { to: "GET /api/datasets/", status: 400, body: JSON.stringify({ error: `bad token ${TOKEN}` }) },
      { to: "GET /api/datasets/", status: 403, headers: { "x-error-message": `no ${TOKEN}` } },
      { to: "GET /api/datasets/", status: 302, headers: { location: `https://hub.example/x?${TOKEN}` } },
    ];
    for (const answer of answers) {
      hub.faults.push(answer);
      const error = await push(hub, [await runOf("first", "0000aaaa")]).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (answer.status !== 302) expect(error).toMatchObject({ message: expect.stringContaining("[secret]") });
      expect(JSON.stringify([String(error), error])).not.toContain(TOKEN);
    }
  });

  it("where there is no network says so, and that nothing is sent twice", async () => {
    const client = new HubClient({
      ...{ endpoint: "https://hub.example", token: TOKEN, sleep: async () => undefined },
      fetch: async () => {
        throw new TypeError("fetch failed", { cause: new Error("getaddrinfo ENOTFOUND hub.example") });
      },
    });
    const options = { id: ID, visibility: "private" as const, runs: [], card: freshCard([]), summary: "Rows", tell: () => undefined };
    await expect(pushRuns(client, options)).rejects.toMatchObject({
      ...{ code: "hub_unreachable", message: "hub.example could not be reached: getaddrinfo ENOTFOUND hub.example" },
      hint: expect.stringContaining("what has arrived is not sent twice"),
    });
  });
});
