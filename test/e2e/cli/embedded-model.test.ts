import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { type CliProcess, keysOf, metadataOf, rowsOf, until, Workplace } from "../../support/cli/cli-process.ts";

let place: Workplace;
beforeEach(() => {
  place = new Workplace();
});
afterEach(() => place.remove());

const arithmetic = (...more: readonly string[]): string[] => ["eval", "run", "arithmetic", "--provider", "embedded", ...more];
const grid = (examples: number, rollouts: number): string[] =>
  Array.from({ length: examples * rollouts }, (_, i) => `${Math.floor(i / rollouts)}/${i % rollouts}`);
const completions = (folder: string): readonly string[] => rowsOf(folder).map((row) => JSON.stringify((row as unknown as { completion: unknown }).completion));

describe("a run with the embedded model", () => {
  it("needs no key and no network, and its metadata say where it ran", async () => {
    const { code, stdout, stderr } = await place.run(arithmetic("-n", "10", "-r", "2"));
    expect(stderr).toMatch(/^Run [0-9a-f]{8}: arithmetic with edgewise\/tiny at embedded$/m);
    expect(code).toBe(0);
    expect(keysOf(place.results)).toEqual(grid(10, 2));
    expect(metadataOf(place.results)).toMatchObject({
      env_id: "arithmetic",
      model: "edgewise/tiny",
      base_url: "embedded",
      usage: { input_tokens: expect.any(Number) },
      edgewise: { status: "COMPLETED", errored_rollouts: 0 },
    });
    expect(stdout).toMatch(/^reward: avg - /m);
    expect(stdout).toMatch(/^pass@k: 1=/m);
    expect(stdout).toMatch(/^reward 95% interval: /m);
  });

  it("is resumed and grows, by its run and by its folder alone", async () => {
    await place.run(arithmetic("-n", "3", "-r", "2"));
    const folder = place.results;
    expect(await place.run(arithmetic("-n", "5", "-R", folder))).toMatchObject({ code: 0 });
    expect(keysOf(folder)).toEqual(grid(5, 2));
    rmSync(place.state, { recursive: true });
    const { code, stderr } = await place.run(["eval", "run", "arithmetic", "-n", "7", "-R", folder]);
    expect(stderr).toContain("at embedded");
    expect(code).toBe(0);
    expect(keysOf(folder)).toEqual(grid(7, 2));
    expect(metadataOf(folder)).toMatchObject({ base_url: "embedded", num_examples: 7 });
  });

  it("gives the same answers again with the same seed, and says what a seed does to the rollouts of an example", async () => {
    const hot = arithmetic("-n", "8", "-a", '{"difficulty": "hard"}', "-S", '{"seed": 11, "temperature": 2}');
    const { stderr } = await place.run([...hot, "-r", "2", "-o", "first"]);
    expect(stderr).toContain("warning: with a fixed seed the 2 rollouts of an example are likely to be the same answer");
    await place.run([...hot, "-r", "1", "-o", "second"]);
    const [first = [], second = []] = ["first", "second"].map((base) => completions(place.resultsFolders(base)[0] ?? ""));
    expect(second).toHaveLength(8);
    expect(first).toEqual(second.flatMap((text) => [text, text]));
    expect(new Set(second).size).toBeGreaterThan(1);
  });

  it("goes through refusals that a demonstration asks for, as with any endpoint", async () => {
    const { code, stderr } = await place.run(arithmetic("-n", "20", "-r", "1", "-S", '{"extra_body": {"error_rate": 0.1, "latency_ms": 20}}'));
    expect(code).toBe(0);
    expect(stderr).toContain("First provider_error, trying again");
    expect(rowsOf(place.results).map(({ error }) => error?.code)).not.toContain("provider_error");
  });
});

describe("the routes of the local service", () => {
  const serve = async (): Promise<{ readonly url: string; readonly cli: CliProcess }> => {
    const cli = place.start(["serve", "--port", "0"]);
    await until(() => typeof readLock(place.state)?.port === "number", 30_000);
    return { url: `http://127.0.0.1:${readLock(place.state)?.port}`, cli };
  };

  it("answer the official SDK: whole, streamed, and refused", async () => {
    const { url, cli } = await serve();
    const openai = new OpenAI({ apiKey: "none", baseURL: `${url}/embedded/v1`, maxRetries: 0 });
    const request = { model: "edgewise/tiny", messages: [{ role: "user" as const, content: "what is 1 + 1?" }], temperature: 0 };
    const whole = await openai.chat.completions.create(request);
    let streamed = "";
    for await (const { choices } of await openai.chat.completions.create({ ...request, stream: true })) streamed += choices[0]?.delta.content ?? "";
    expect(streamed).toBe(whole.choices[0]?.message.content);
    const { choices } = await openai.completions.create({ model: "edgewise/tiny", prompt: "Q: 1", max_tokens: 0, echo: true, logprobs: 1 });
    expect(choices[0]?.logprobs?.tokens).toEqual([..."Q: 1"]);
    await expect(openai.models.list()).resolves.toMatchObject({ data: [{ id: "edgewise/tiny" }] });
    await expect(openai.chat.completions.create({ ...request, temperature: 9 })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(openai.chat.completions.create({ ...request, model: "gpt-4" })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const foreign = await fetch(`${url}/embedded/v1/models`, { headers: { origin: "https://example.org" } });
    expect(foreign.status).toBe(401);
    cli.interrupt();
    expect(await cli.ended).toBe(0);
  });

  it("leave the service its pulse while hundreds of requests compute", async () => {
    const { url } = await serve();
    const ask = (seed: number): Promise<Response> =>
      fetch(`${url}/embedded/v1/completions`, {
        method: "POST",
        body: JSON.stringify({ model: "edgewise/tiny", prompt: Array.from({ length: 10 }, () => "a"), n: 6, max_tokens: 30, temperature: 2, seed }),
      });
    let computing = true;
    const answers = Promise.all([1, 2, 3].map(ask)).finally(() => {
      computing = false;
    });
    let looks = 0;
    while (computing) {
      expect((await fetch(`${url}/health`)).status).toBe(200);
      looks++;
    }
    for (const answer of await answers) expect(((await answer.json()) as { choices: unknown[] }).choices).toHaveLength(60);
    // Without a pause the first look would be answered when everything is done.
    expect(looks).toBeGreaterThan(5);
  });
});

it("what is deployed carries neither the model's code nor its weights", () => {
  const dist = (name: string): string => readFileSync(join(import.meta.dirname, "../../../dist", name), "utf8");
  const carries = (name: string): boolean => ["createEmbeddedApp", "WeightsError"].some((part) => dist(name).includes(part));
  expect([carries("embedded-worker.js"), carries("worker.js")]).toEqual([true, false]);
});
