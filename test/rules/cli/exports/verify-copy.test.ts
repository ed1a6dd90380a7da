import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { METADATA, ROWS, writeRun } from "../../../support/results/exported-run.ts";
import { TOKEN } from "../../../support/mock-hub/mock-hub.ts";
import { type MockHubServer, startMockHub } from "../../../support/mock-hub/mock-hub-server.ts";

const FIRST = "tools--openai-small-model--0000abcd";
const SECOND = "mine";
const file = (config: string): string => join(cwd, "copy", config, "train-00000-of-00001.parquet");

let cwd = "";
let server: MockHubServer;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-copy-test-"));
  server = await startMockHub();
  writeRun(join(cwd, "run"));
  writeRun(join(cwd, "other"), { edgewise: { ...METADATA.edgewise, run_id: "0000beef" } }, ROWS.slice(0, 2));
  for (const args of [["run"], ["other", "--config", SECOND]])
    expect((await runInProcess(["push", ...args, "--to", "hf:me/tools"], { cwd, env: { HF_ENDPOINT: server.url, HF_TOKEN: TOKEN } })).code).toBe(0);
  // As `hf download` leaves it.
  for (const [path, { bytes }] of server.hub.head("me/tools")?.tree ?? []) {
    mkdirSync(dirname(join(cwd, "copy", path)), { recursive: true });
    writeFileSync(join(cwd, "copy", path), bytes ?? new Uint8Array());
  }
});
afterEach(async () => {
  await server.close();
  rmSync(cwd, { recursive: true, force: true });
});

const verified = (...args: readonly string[]) => runInProcess(["verify", ...args], { cwd });
const wrong = (out: readonly string[]): readonly string[] => out.filter((line) => line.startsWith("  WRONG  ")).map((line) => line.slice("  WRONG  ".length));

describe("verify of a copy of a data set that runs were pushed to", () => {
  it("is one of each config, with its files and numbers, however it is named", async () => {
    const { code, out } = await verified("copy");
    expect([code, out.filter((line) => !line.startsWith(" "))]).toEqual([0, [`copy/${FIRST}: verified`, `copy/${SECOND}: verified`]]);
    expect(out.join("\n")).toMatch(new RegExp(`ok {5}${FIRST}/train-00000-of-00001.parquet: 4 rows, sha256 [0-9a-f]{64}\n`));
    expect(out.join("\n")).toMatch(new RegExp(`ok {5}${SECOND}/train-00000-of-00001.parquet: 2 rows, sha256 [0-9a-f]{64}\n`));
    for (const number of ["reward 0.1875", "reward 0.5", "pass@2 0.5", "errors timeout 1"]) expect(out).toContain(`  ok     ${number}`);
    expect((await verified("copy/README.md")).out).toEqual(out);
    expect((await verified(".")).out).toEqual(out);
    for (const named of [`copy/${SECOND}`, `copy/${SECOND}/`, `copy/${SECOND}/train-00000-of-00001.parquet`]) {
      const one = await verified(named);
      expect([one.code, one.out.filter((line) => line.includes("verified")).length, one.out.join("\n")]).toEqual([
        0,
        1,
        expect.stringContaining("ok     reward 0.5"),
      ]);
    }
  });

  it("names the row that was changed, and leaves the other configs be", async () => {
    const bytes = readFileSync(file(FIRST));
    const at = bytes.indexOf('HYPERLINK("http://x")');
    expect(at).toBeGreaterThan(0);
    bytes.write('HYPERLINK("http://y")', at);
    writeFileSync(file(FIRST), bytes);
    const { code, out, err } = await verified("copy");
    expect([code, err, wrong(out)]).toEqual([
      1,
      expect.stringContaining("1 of 2 are wrong"),
      [`${FIRST}/train-00000-of-00001.parquet: row 4 (example 1, rollout 1) is not as it was written`],
    ]);
    expect((await verified(`copy/${SECOND}`)).code).toBe(0);
  });

  it("finds any byte that was changed", async () => {
    const before = readFileSync(file(SECOND));
    for (let at = 0; at < before.byteLength; at += Math.ceil(before.byteLength / 30)) {
      const bytes = Buffer.from(before);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file(SECOND), bytes);
      expect([at, (await verified("copy")).code]).toEqual([at, 1]);
    }
  });

  it("names a file that is gone or too many, numbers of the card that the rows do not give, and a card that cannot be read", async () => {
    unlinkSync(file(FIRST));
    cpSync(file(SECOND), join(cwd, "copy", SECOND, "train-00001-of-00002.parquet"));
    expect(wrong((await verified("copy")).out)).toEqual([
      `${FIRST}/train-00000-of-00001.parquet: is not there`,
      `${SECOND}/train-00001-of-00002.parquet: the card does not tell of it`,
    ]);
    const card = join(cwd, "copy/README.md");
    const text = readFileSync(card, "utf8");
    writeFileSync(card, text.replace("avg_reward: 0.5", "avg_reward: 0.75"));
    expect(wrong((await verified(`copy/${SECOND}`)).out)).toContain("reward: the card has 0.75, the rows give 0.5");
    for (const [broken, told] of [
      [text.replace("edgewise:\n", "edgewise:\n  - {\n"), "the front matter of the card is no YAML"],
      [text.replace("  version: 2", "  version: 99"), "in version 99, which this version of Edgewise does not know"],
      [text.replace("config: mine", "konfig: mine"), "the front matter of the card is not as it is written: edgewise.configs.1.config"],
    ] as const) {
      writeFileSync(card, broken);
      const { code, out } = await verified("copy");
      expect([code, wrong(out)[0]]).toEqual([1, expect.stringContaining(told)]);
    }
  });

  it("is not asked of other runs: each config is compared as the run that it is", async () => {
    const { code, out } = await runInProcess(["compare", `copy/${FIRST}`, "run"], { cwd });
    expect([code, out.join("\n")]).toEqual([0, expect.stringContaining("reward")]);
  });
});
