import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startOf } from "../../../src/cli/state/processes.ts";
import { keysOf, metadataOf, rowsOf, until, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

const reverse = (...more: readonly string[]): string[] => ["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, ...more];
const grid = (examples: number, rollouts: number): string[] =>
  Array.from({ length: examples * rollouts }, (_, i) => `${Math.floor(i / rollouts)}/${i % rollouts}`);

describe("a run from the command line", () => {
  it("ends with its files, its report and the folder", async () => {
    const started = performance.timeOrigin + performance.now();
    const { code, stdout, stderr } = await place.run(reverse("-n", "6", "-r", "2", "-g", "example_id", "--by", "task"));
    expect(stderr).toMatch(/^Run [0-9a-f]{8}: reverse-text with scripted at http/);
    expect(code).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(6, 2));
    expect(metadataOf(place.results)).toMatchObject({ num_examples: 6, avg_reward: 1, edgewise: { status: "COMPLETED" } });
    expect(readFileSync(join(place.results, "eval.log"), "utf8")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d - \S+ - INFO - /);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("--- Evaluation ---");
    expect(stdout).toContain("reward: avg - 1.000");
    expect(stdout).toMatch(/^reward 95% interval: 0\.\d{3} to 1\.000 \(over 6 values of example_id\)$/m);
    expect(stdout).toMatch(/^reward by task:\ntask +examples .*\nreverse-text +6 +12 /m);
    // Nothing is left to go on with.
    expect(lines.at(-1)).toMatch(/^Results: outputs\/evals\/reverse-text--scripted\/[0-9a-f]{8}$/);
    expect(stdout + stderr).not.toContain("\u001b");
    // What the runtime says belongs in its log; the first request comes soon after Enter: 2.5 s on an idle machine, and another file runs beside.
    expect(stderr).not.toMatch(/workerd|miniflare|wrangler/i);
    expect((model.ledger.stats().first_start_ms ?? 0) - started).toBeLessThan(20_000);
    // The service is gone with the command, and nothing holds the folder.
    expect(existsSync(join(place.state, "lock"))).toBe(false);
  });

  it("does nothing for a run with nothing left to do, and grows it when more is asked for", async () => {
    await place.run(reverse("-n", "3", "-r", "1"));
    const calls = model.ledger.stats().total;
    const again = await place.run(["eval", "reverse-text", "-R", place.results]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("reward: avg - 1.000"), stderr: expect.stringContaining("nothing left to do") });
    expect(model.ledger.stats().total).toBe(calls);
    // A run that completed is one, though its report cannot be grouped by what no row has.
    const grown = await place.run(["eval", "reverse-text", "-R", place.results, "-n", "5", "--by", "topic"]);
    expect(grown).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("reward: avg - 1.000"),
      stderr: expect.stringMatching(/--by topic: no row has it[\s\S]*Rows have example_id/),
    });
    expect(grown.stdout).not.toContain("(missing)");
    expect(keysOf(place.results)).toEqual(grid(5, 1));
    expect(model.ledger.stats().total).toBe(calls + 2);
    const shrunk = await place.run(["eval", "reverse-text", "-R", place.results, "-n", "2", "-m", "other", "-r", "4"]);
    expect(shrunk.code).toBe(1);
    expect(shrunk.stderr).toMatch(/model: the run has "scripted", this command "other".*rollouts_per_example: the run has 1, this command 4/s);
  });

  it("keeps the folder up to date while it goes on", async () => {
    model.setScript({ latency_ms: 100 });
    const cli = place.start(reverse("-n", "120", "-r", "1", "-c", "2"));
    await until(() => model.ledger.stats().total > 20, 20_000);
    const answered = model.ledger.stats().outcomes.answered ?? 0;
    await until(() => rowsOf(place.results).length >= answered - 2 && metadataOf(place.results).edgewise.status === "RUNNING", 20_000);
    expect(await cli.ended).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(120, 1));
  });

  it("takes a data set from a file of this machine, and says when the file is not there", async () => {
    mkdirSync(join(place.folder, "data"));
    writeFileSync(join(place.folder, "data", "rows.jsonl"), `{"text":"one two"}\n{"text":"three"}\n`);
    expect((await place.run(reverse("-n", "-1", "-r", "1", "-a", '{"dataset":"data/rows.jsonl"}'))).code).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(2, 1));
    expect(
      model.ledger
        .entries()
        .map(({ prompt }) => prompt)
        .sort(),
    ).toEqual(["one two", "three"]);
    expect(readFileSync(join(place.results, "metadata.json"), "utf8")).toMatch(/"dataset": ?"sha256:[0-9a-f]{64}"/);
  });

  it("writes no folder with --no-save, and can still go on", async () => {
    const { code, stdout } = await place.run(reverse("-n", "2", "-r", "1", "--no-save"));
    expect(code).toBe(0);
    expect(stdout).toContain("reward: avg - 1.000");
    expect(place.resultsFolders()).toEqual([]);
    const id = /\(--no-save\), as run ([0-9a-f]{8})$/m.exec(stdout)?.[1] ?? "";
    expect((await place.run(["eval", "reverse-text", "-R", id])).code).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(2, 1));
  });

  it("goes on without the folder when that cannot be written, and ends with 1 and a way to get the files", async () => {
    writeFileSync(join(place.folder, "taken"), "");
    const { code, stdout, stderr } = await place.run(reverse("-n", "2", "-r", "1", "-o", "taken"));
    expect(code).toBe(1);
    expect(stderr).toMatch(/warning: .*taken\/evals.* cannot be written/);
    expect(stdout).toContain("reward: avg - 1.000");
    const [, command = ""] = /^Resume: npx edgewise (.*)$/m.exec(stdout) ?? [];
    expect((await place.run(command.split(" "))).code).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(2, 1));
  });
});

describe("what goes wrong", () => {
  it("a missing key: names the variable, and the keys there are", async () => {
    const { code, stderr } = await place.run(["eval", "reverse-text", "-n", "1", "-b", "https://api.example.org/v1"], { OPENAI_API_KEY: "sk-hidden" });
    expect(code).toBe(1);
    expect(stderr).toContain("PRIME_API_KEY is not set");
    expect(stderr).toContain("OPENAI_API_KEY is set: add --provider openai");
    expect(stderr).toContain("add --provider embedded");
    expect(stderr).not.toContain("sk-hidden");
  });

  it("a wrong key: the run fails at once, naming variable, address and model", async () => {
    model.setScript({ api_key: "right" });
    const wrong = await place.run(reverse("-n", "20", "-k", "MY_KEY"), { MY_KEY: "sk-wrong" });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/FAILED: .*MY_KEY/s) });
    expect(wrong.stdout + wrong.stderr).not.toContain("sk-wrong");
    expect(wrong.stdout).toMatch(/Results: .*\nResume once that is mended: .*\n$/);
  });

  it("an endpoint that cannot serve: a look says so before any run is made, with what to type; --no-preflight makes the run all the same", async () => {
    model.setScript({ models: ["scripted-2"] });
    const folders = place.resultsFolders().length;
    const unknown = await place.run(reverse("-n", "20"));
    expect(unknown).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/does not know the model scripted.*\n {2}Did you mean -m scripted-2\?/s),
    });
    const nobody = await place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", "http://127.0.0.1:9/v1"]);
    expect(nobody).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("http://127.0.0.1:9/v1 cannot be reached: connection refused") });
    expect(place.resultsFolders()).toHaveLength(folders);
    const anyway = await place.run(reverse("-n", "20", "--no-preflight"));
    expect(anyway).toMatchObject({ code: 1, stderr: expect.stringMatching(/FAILED: .*scripted.*did you mean -m scripted-2\?/s) });
  });

  it("a run that another command stops: what is in progress is finished, and the code is 1", async () => {
    const release = model.hold();
    const cli = place.start(reverse("-n", "10", "-r", "1", "-c", "2"));
    await until(() => model.ledger.stats().total === 2 && place.resultsFolders().length === 1, 20_000);
    const stopped = await place.run(["eval", "stop", place.results.split("/").at(-1) ?? ""]);
    expect(stopped).toMatchObject({ code: 0, stdout: expect.stringContaining("is cancelled") });
    // Its executor hears of it with a beat, of which there is one a second; until then what is answered would have another follow it.
    await sleep(3_000);
    release();
    expect(await cli.ended).toBe(1);
    expect(cli.stderr()).toContain("ended CANCELLED");
    expect(keysOf(place.results)).toHaveLength(2);
    expect(model.ledger.stats()).toMatchObject({ total: 2, outcomes: { answered: 2 } });
    expect(await place.run(["eval", "stop", "00000000"])).toMatchObject({ code: 1, stderr: expect.stringContaining("knows no run 00000000") });
  });

  it("a service that cannot be reached: names what was tried", async () => {
    const { code, stderr } = await place.run(reverse("-n", "1"), { EDGEWISE_URL: "http://127.0.0.1:9" });
    expect(code).toBe(1);
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:9 \(EDGEWISE_URL\) cannot be reached/);
  });

  it("a state folder that cannot be written: says so at once", async () => {
    writeFileSync(join(place.folder, "file"), "");
    const { code, stderr } = await place.run(reverse("-n", "1"), { EDGEWISE_STATE_DIR: "file/state" });
    expect(code).toBe(1);
    expect(stderr).toContain("cannot write to the state folder");
  });

  it("a port that is in use: says which, and how to take another", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    try {
      const { code, stderr } = await place.run(["serve", "--port", String(port)]);
      expect(code).toBe(1);
      expect(stderr).toContain(`port ${port} is in use`);
      expect(stderr).toContain(`--port ${port + 1}`);
      expect(existsSync(join(place.state, "lock"))).toBe(false);
    } finally {
      other.close();
    }
  });
});

describe("a run that was cut short", () => {
  it("by Ctrl-C: ends with 130, keeps what is finished, and goes on with -R", async () => {
    model.setScript({ latency_ms: 100 });
    const cli = place.start(reverse("-n", "60", "-r", "1", "-c", "4"));
    await until(() => model.ledger.stats().total > 20, 20_000);
    const pressed = performance.now();
    cli.interrupt();
    expect(await cli.ended).toBe(130);
    expect(performance.now() - pressed).toBeLessThan(20_000);
    expect(cli.stderr()).toContain("Interrupted; saving what is finished");
    const kept = rowsOf(place.results).length;
    expect(kept).toBeGreaterThanOrEqual(12);
    expect(kept).toBeLessThan(60);
    const [, command = ""] = /^Resume: npx edgewise (.*)$/m.exec(cli.stdout()) ?? [];
    const before = model.ledger.stats().total;
    expect((await place.run(command.split(" "))).code).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(60, 1));
    // Nothing that was in the folder is asked for again.
    expect(model.ledger.stats().total - before).toBe(60 - kept);
  });

  it("by a kill of the command alone: its runtime ends with it, and the run goes on with -R without a path", async () => {
    model.setScript({ latency_ms: 50 });
    const cli = place.start(reverse("-n", "100", "-r", "1", "-c", "4"));
    await until(() => model.ledger.stats().total > 30, 20_000);
    const { workerd_pid } = JSON.parse(readFileSync(join(place.state, "lock"), "utf8")) as { workerd_pid: number };
    process.kill(cli.pid, "SIGKILL");
    expect(await cli.ended).toBe("SIGKILL");
    // Nobody comes for it.
    await until(
      () => startOf(workerd_pid) === null,
      20_000,
      () => "the end of the runtime",
    );
    await until(() => model.ledger.stats().in_flight === 0, 20_000);
    const before = model.ledger.stats().total;
    appendFileSync(join(place.results, "results.jsonl"), '{"cut');
    const again = await place.run(reverse("-n", "100", "-r", "1", "-c", "4", "-R"));
    expect(again).toMatchObject({ code: 0, stderr: expect.stringMatching(/Run [0-9a-f]{8} goes on/) });
    expect(keysOf(place.results)).toEqual(grid(100, 1));
    // A dead runtime asks for nothing: all but what was open and not yet stored is asked for once.
    expect(model.ledger.stats().total).toBeGreaterThan(before);
    expect(model.ledger.stats().repeated).toBeLessThanOrEqual(60);
  });

  it("by the loss of its state: the results folder is enough", async () => {
    model.setScript({ latency_ms: 50 });
    const cli = place.start(reverse("-n", "40", "-r", "2", "-c", "4"));
    await until(() => model.ledger.stats().total > 30, 20_000);
    cli.interrupt();
    await cli.ended;
    const kept = rowsOf(place.results).length;
    expect(kept).toBeGreaterThan(10);
    rmSync(place.state, { recursive: true });
    appendFileSync(join(place.results, "results.jsonl"), '{"cut');
    const before = model.ledger.stats().total;
    const again = await place.run(["eval", "reverse-text", "-R", place.results]);
    expect(again).toMatchObject({ code: 0 });
    expect(keysOf(place.results)).toEqual(grid(40, 2));
    expect(model.ledger.stats().total - before).toBe(80 - kept);
  });

  it("by broken answers of the model server: a resume leaves no error behind", async () => {
    model.setScript({ faults: [{ fault: { kind: "malformed_json" }, limit: 4 }] });
    const first = await place.run(reverse("-n", "6", "-r", "1"));
    expect(first.code).toBe(3);
    expect(first.stderr).toMatch(/(error|warning): .*malformed_response/);
    expect(rowsOf(place.results).filter(({ error }) => error !== null)).toHaveLength(4);
    expect((await place.run(["eval", "reverse-text", "-R", place.results, "--keep-errors"])).stderr).toContain("nothing left to do");
    const again = await place.run(reverse("-n", "6", "-r", "1", "-R"));
    expect(again.code, again.stderr).toBe(0);
    expect(rowsOf(place.results).filter(({ error }) => error !== null)).toEqual([]);
    expect(keysOf(place.results)).toEqual(grid(6, 1));
    expect(model.ledger.stats().total).toBe(10);
  });
});

describe("prune", () => {
  it("removes the state of finished runs, keeps the others, and frees their space", async () => {
    model.setScript({ latency_ms: 30, answer: { text: "x".repeat(50_000) } });
    await place.run(reverse("-n", "30", "-r", "1"));
    const finished = place.results;
    const cli = place.start(reverse("-n", "60", "-r", "1", "-c", "2"));
    await until(() => model.ledger.stats().total > 40, 20_000);
    cli.interrupt();
    await cli.ended;
    const { code, stdout } = await place.run(["prune"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`removed ${finished.split("/").at(-1)}`);
    expect(stdout).toMatch(/kept .*: it is not finished/);
    expect(Number(/1 run removed, ([\d.]+) MB freed/.exec(stdout)?.[1])).toBeGreaterThan(1);
    expect(keysOf(finished)).toEqual(grid(30, 1));
    expect((await place.run(reverse("-n", "60", "-r", "1", "-c", "2", "-R"))).code).toBe(0);
  });
});
