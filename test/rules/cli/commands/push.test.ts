import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Outcome, runInProcess } from "../../../support/cli/cli-in-process.ts";
import { METADATA, ROWS, writeRun } from "../../../support/results/exported-run.ts";
import { TOKEN } from "../../../support/mock-hub/mock-hub.ts";
import { type MockHubServer, startMockHub } from "../../../support/mock-hub/mock-hub-server.ts";

let cwd = "";
let server: MockHubServer;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-push-test-"));
  // Beyond the size that is sent without a stream.
  server = await startMockHub({ multipart: { from: 300_000, chunk: 100_000 } });
});
afterEach(async () => {
  await server.close();
  rmSync(cwd, { recursive: true, force: true });
});

const pushed = (args: readonly string[], env: Readonly<Record<string, string>> = { HF_TOKEN: TOKEN }): Promise<Outcome> =>
  runInProcess(["push", ...args], { cwd, env: { HF_ENDPOINT: server.url, ...env } });

const CONFIG = "tools--openai-small-model--0000abcd";

describe("edgewise push RUN|FOLDER --to hf:owner/name", () => {
  it("makes a private data set, with the run as a config whose rows are those of the run and whose card says what made them", async () => {
    writeRun(join(cwd, "run"));
    expect(await pushed(["run", "--to", "hf:me/tools"])).toMatchObject({
      code: 0,
      out: [expect.stringMatching(/^Pushed: http:\/\/127\.0\.0\.1:\d+\/datasets\/me\/tools \(new, private\), commit [0-9a-f]{12}$/)],
    });
    const { hub } = server;
    expect([hub.problems, hub.commits("me/tools").length, hub.repositories.get("me/tools")?.isPrivate]).toEqual([[], 1, true]);
    const path = `${CONFIG}/train-00000-of-00001.parquet`;
    expect(Object.keys(hub.tree("me/tools"))).toEqual([".gitattributes", "README.md", path]);
    const bytes = hub.head("me/tools")?.tree.get(path)?.bytes ?? new Uint8Array();
    const rows = (await parquetReadObjects({ file: bytes.slice().buffer })) as { reward: number }[];
    expect(rows.map(({ reward }) => reward)).toEqual(ROWS.map(({ reward }) => reward));
    const card = hub.text("me/tools", "README.md");
    expect(card).toContain(`npx edgewise eval run tools -m 'openai/small|*model*' -b https://api.example.com/v1 -n 2 -r 2 -a '{"difficulty":"hard"}'`);
    expect(card).toContain(`datasets.load_dataset("me/tools", "${CONFIG}")["train"]`);
    expect(await pushed(["run", "--to", "hf:me/tools"])).toMatchObject({ code: 0, out: [expect.stringContaining("all of it was there already")] });
    expect(hub.commits("me/tools")).toHaveLength(1);
  });

  it("is named as the reference names it where no name is given, and may be seen by everybody where that is asked for", async () => {
    writeRun(join(cwd, "run"), { model: "openai/small" });
    expect((await pushed(["run", "--to", "hf:", "--public"])).code).toBe(0);
    expect([...server.hub.repositories].map(([id, { isPrivate }]) => [id, isPrivate])).toEqual([["me/tools_openai_small_n2_r2", false]]);
    expect((await pushed(["run", "--to", "hf:other", "--config", "mine"])).code).toBe(0);
    expect(server.hub.text("me/other", "README.md")).toContain("- config_name: mine\n");
  });

  it("of several runs is one commit with a config for each, sent in pieces where they are large", async () => {
    const noise = Array.from({ length: 60_000 }, (_, at) => Math.imul(at + 1, 2654435761).toString(36)).join("");
    writeRun(join(cwd, "runs/a"), {}, [...ROWS, { ...ROWS[0], example_id: 2, answer: noise }]);
    writeRun(join(cwd, "runs/b"), { edgewise: { ...METADATA.edgewise, run_id: "0000beef" } }, [{ ...ROWS[0], answer: noise.slice(0, 200_000) }]);
    expect((await pushed(["runs", "--to", "hf:me/tools"])).err).toContain("2 of 2");
    expect([server.hub.problems, server.hub.commits("me/tools").length]).toEqual([[], 1]);
    // The folder that was written last comes first, where the clock of the file system tells.
    const card = server.hub.text("me/tools", "README.md");
    for (const id of ["0000abcd", "0000beef"]) expect(card).toContain(`config_name: tools--openai-small-model--${id}\n`);
    expect(server.hub.asked.filter((line) => line.startsWith("PUT /lfs/part/")).length).toBeGreaterThan(2);
    expect(server.hub.asked.filter((line) => line.startsWith("PUT /lfs/whole/"))).toHaveLength(1);
    expect(await pushed(["runs", "--to", "hf:me/tools", "--config", "x"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--config names one run, and there are 2"),
    });
  });

  it("takes the token that `hf auth login` kept, and leaves nothing on the disk", async () => {
    writeRun(join(cwd, "run"));
    mkdirSync(join(cwd, ".cache/huggingface"), { recursive: true });
    writeFileSync(join(cwd, ".cache/huggingface/token"), `${TOKEN}\n`);
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("edgewise-push-") && !name.startsWith("edgewise-push-test-"));
    expect((await pushed(["run", "--to", "hf:me/tools"], {})).code).toBe(0);
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith("edgewise-push-") && !name.startsWith("edgewise-push-test-") && !before.includes(name)),
    ).toEqual([]);
  });

  it("says what is wrong, and what to do, without the token", async () => {
    writeRun(join(cwd, "run"));
    expect(await pushed(["nothing"])).toMatchObject({ code: 2, err: expect.stringContaining("no folder") });
    expect(await pushed(["run", "--to", "me/tools"])).toMatchObject({ code: 2, err: expect.stringContaining("hf:owner/name") });
    expect(await pushed(["run", "--to", "hf:me/a--b"])).toMatchObject({ code: 2, err: expect.stringContaining("is no name of a data set") });
    expect(await pushed(["run", "--to", "hf:me/x", "--config", "a/b"])).toMatchObject({ code: 2, err: expect.stringContaining("--config") });
    expect(await pushed(["run", "--to", "hf:me/x"], {})).toMatchObject({ code: 2, err: expect.stringContaining("export HF_TOKEN=") });
    expect(await pushed(["nothing", "--to", "hf:me/x"])).toMatchObject({ code: 2 });
    const wrong = await pushed(["run", "--to", "hf:me/x"], { HF_TOKEN: "hf_wrongWrongWrong" });
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("the Hub does not accept the token") });
    const foreign = await pushed(["run", "--to", "hf:somebody/x"]);
    expect(foreign.err).toContain("the token may not write to somebody/x (status 403");
    expect(foreign.err).toContain("https://huggingface.co/settings/tokens");
    expect([wrong.err, foreign.err].join("\n")).not.toMatch(/hf_w/);
  });
});
