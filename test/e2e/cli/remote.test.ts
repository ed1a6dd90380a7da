import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CliProcess, keysOf, metadataOf, rowsOf, until, Workplace } from "../../support/cli/cli-process.ts";
import { grid } from "../../support/cli/in-place.ts";
import { kill } from "../../support/cli/local-stack.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const TOKEN = "remote-token";

/** The machine of the service, and the one of its user, which has neither key nor state. */
let there: Workplace;
let here: Workplace;
let model: ModelServer;
let port = 0;
let serve: CliProcess;
beforeEach(async () => {
  [there, here] = [new Workplace(), new Workplace()];
  model = await startModelServer();
  port = await freePort();
  await startService();
});
afterEach(async () => {
  there.remove();
  here.remove();
  await model.close();
});

async function startService(): Promise<void> {
  serve = there.start(["serve", "--port", String(port)], { EDGEWISE_TOKEN: TOKEN, THEIR_API_KEY: "right" });
  await serve.says("Edgewise listens on", 40_000);
}

const env = () => ({ EDGEWISE_URL: `http://localhost:${port}`, EDGEWISE_TOKEN: TOKEN });
const ask = (...args: readonly string[]) => here.run(["eval", ...args], env());
const reverse = (...more: readonly string[]): string[] => ["run", "edgewise/reverse-text@1.0.0", "-m", "scripted", "-b", model.url, ...more];
const start = (...args: readonly string[]): CliProcess => here.start(["eval", ...args], env());
const idOf = (stderr: string): string => /^Run ([0-9a-f]{8})/m.exec(stderr)?.[1] ?? "";

/** Whole lines of rows; the last one may be in the making. */
const linesIn = (folder: string): number => readFileSync(join(folder, "results.jsonl"), "utf8").split("\n").length - 1;

describe("a run on a service elsewhere", () => {
  it("uses the key that is there, takes a data set from here, and leaves the same folder as a run on this machine", { timeout: 120_000 }, async () => {
    model.setScript({ api_key: "right" });
    mkdirSync(join(here.folder, "data"));
    writeFileSync(join(here.folder, "data", "rows.jsonl"), `{"text":"one two"}\n{"text":"three"}\n`);
    const { code, stdout, stderr } = await ask(...reverse("-n", "-1", "-r", "2", "-k", "THEIR_API_KEY", "-a", '{"dataset":"data/rows.jsonl"}'));
    expect(stderr).toMatch(/^Run [0-9a-f]{8}: reverse-text with scripted/);
    expect([code, stdout]).toEqual([0, expect.stringContaining("reward: avg - 1.000")]);
    expect(keysOf(here.results)).toEqual(grid(2, 2));
    expect(metadataOf(here.results)).toMatchObject({ num_examples: 2, edgewise: { status: "COMPLETED" } });
    for (const name of ["eval.log", ".edgewise.json"]) expect(existsSync(join(here.results, name))).toBe(true);
    expect(existsSync(here.state)).toBe(false);

    const id = idOf(stderr);
    const listed = await ask("list", "-e", "edgewise/reverse-text");
    expect(listed.stdout).toMatch(new RegExp(`^RUN .*\n${id} +reverse-text +scripted +COMPLETED +4/4 +1\\.000`));
    expect((await ask("get", id)).stdout).toMatch(/^Endpoint +http.*\(key in THEIR_API_KEY\)$/m);
    const samples = JSON.parse((await ask("samples", id, "-n", "3", "-o", "json")).stdout);
    expect(samples).toMatchObject({ total: 4, has_more: true });
    expect(samples.samples).toEqual(rowsOf(here.results).slice(0, 3));
    const logs = await ask("logs", id);
    expect(logs.stdout).toBe(readFileSync(join(here.results, "eval.log"), "utf8"));
    expect(await ask("logs", id, "-f", "-n", "1")).toMatchObject({ code: 0, stderr: `Run ${id}: COMPLETED.\n` });

    const missing = await ask(...reverse("-b", "https://api.openai.com/v1", "-k", "OPENAI_API_KEY"));
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("OPENAI_API_KEY is not set")]);
    const unbound = await ask(...reverse("-b", "https://api.example.org/v1", "-k", "NOBODYS_API_KEY"));
    expect([unbound.code, unbound.stderr]).toEqual([2, expect.stringContaining("allow NOBODYS_API_KEY@api.example.org in KEY_VARS of this service")]);
    expect((await here.run(["eval", "list"], { ...env(), EDGEWISE_TOKEN: "wrong" })).stderr).toContain("EDGEWISE_TOKEN is set here, but to another value");
    // In its own folder the service is found without an address, but asks for the token all the same.
    expect((await there.run(["eval", "list"])).stderr).toMatch(/refuses this command.*\n.*process \d+, edgewise serve.* was started with EDGEWISE_TOKEN set/);
    expect((await there.run(["eval", "list"], { EDGEWISE_TOKEN: TOKEN })).stdout).toContain(id);
  });

  it("goes on when Ctrl-C ends the following, is followed again with -R, and ended with `eval stop`", { timeout: 120_000 }, async () => {
    model.setScript({ latency_ms: 100 });
    const cli = start(...reverse("-n", "120", "-r", "1", "-c", "2"));
    await until(() => model.ledger.stats().total > 10, 20_000);
    cli.interrupt();
    expect(await cli.ended).toBe(130);
    const id = idOf(cli.stderr());
    expect(cli.stdout()).toContain(`Run ${id} goes on at ${env().EDGEWISE_URL}; this command only stopped following it.`);
    expect(cli.stdout()).toContain(`Follow it again: npx edgewise eval run edgewise/reverse-text@1.0.0 -R outputs/evals/reverse-text--scripted/${id}`);
    expect(cli.stdout()).toContain(`Stop it: npx edgewise eval stop ${id}`);
    const before = linesIn(here.results);
    expect(before).toBeGreaterThan(0);

    const calls = model.ledger.stats().total;
    await until(() => model.ledger.stats().total > calls + 10, 20_000);
    const again = start("run", "edgewise/reverse-text", "-R", here.results);
    await again.says("is working already; following it");
    await until(() => linesIn(here.results) > before + 10, 20_000);
    expect((await ask("stop", id)).stdout).toContain(`Run ${id} is cancelled`);
    expect(await again.ended).toBe(1);
    expect(again.stderr()).toContain("ended CANCELLED");

    model.setScript({});
    expect((await ask("run", "reverse-text", "-R", id, "-c", "8")).code).toBe(0);
    expect(keysOf(here.results)).toEqual(grid(120, 1));
    // Nothing was asked for twice: what was open when the run was cancelled was finished.
    expect(model.ledger.stats().total).toBe(120);
  });

  it("is followed through the death and restart of its service, and made again from the folder when its state is lost", { timeout: 150_000 }, async () => {
    model.setScript({ latency_ms: 100 });
    const cli = start(...reverse("-n", "80", "-r", "1", "-c", "2"));
    await until(() => model.ledger.stats().total > 10, 20_000);
    await kill(there, serve, "stack");
    await cli.says(/does not answer \(connection refused\); trying again\. The run goes on there\./, 20_000);
    await startService();
    await cli.says("answers again", 30_000);
    expect(await cli.ended).toBe(0);
    expect(keysOf(here.results)).toEqual(grid(80, 1));

    await kill(there, serve, "stack");
    rmSync(there.state, { recursive: true });
    await startService();
    const calls = model.ledger.stats().total;
    expect((await ask("get", idOf(cli.stderr()))).stderr).toContain("knows no run");
    expect((await ask("run", "reverse-text", "-R", here.results, "-n", "82")).code).toBe(0);
    expect(keysOf(here.results)).toEqual(grid(82, 1));
    expect(model.ledger.stats().total).toBe(calls + 2);
  });
});

describe("a look at runs of this folder, with no service running", () => {
  it("starts nothing: no model is called, and the run waits for its service", { timeout: 120_000 }, async () => {
    model.setScript({ latency_ms: 200 });
    const cli = start(...reverse("-n", "200", "-r", "1", "-c", "2", "--no-save"));
    await until(() => model.ledger.stats().total > 5, 20_000);
    cli.interrupt();
    await cli.ended;
    const id = idOf(cli.stderr());
    await until(async () => JSON.parse((await ask("samples", id, "-o", "json")).stdout).total > 0, 20_000);
    await kill(there, serve, "stack");
    const look = (...args: readonly string[]) => there.run(["eval", ...args]);
    const calls = model.ledger.stats().total;
    expect((await look("list")).stdout).toMatch(new RegExp(`^RUN .*\n${id} .* RUNNING `));
    expect((await look("samples", id)).stdout).toMatch(/^EXAMPLE/);
    const logs = await look("logs", id, "-f");
    expect([logs.code, logs.stdout, logs.stderr]).toEqual([
      1,
      expect.stringContaining("200 examples x 1 rollouts pinned"),
      expect.stringContaining("npx edgewise serve"),
    ]);
    expect(model.ledger.stats().total).toBe(calls);
    expect(existsSync(join(there.state, "lock"))).toBe(false);

    expect((await look("stop", id)).stdout).toBe(`Run ${id} is cancelled; its files are written when a service of this folder works again.\n`);
    expect(JSON.parse((await look("get", id, "-o", "json")).stdout)).toMatchObject({ status: "CANCELLED", edgewise: { settled: false } });
    expect(model.ledger.stats().total).toBe(calls);
    await startService();
    await until(async () => (await ask("get", id, "-o", "json")).stdout.includes('"settled": true'), 20_000);
    expect(model.ledger.stats().total).toBe(calls);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}
