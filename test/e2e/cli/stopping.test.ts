import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StoppedRun } from "../../../src/metrics/sequential/stopped-early.ts";
import { keysOf, rowsOf, until, Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let served: Served;
let model: ModelServer;
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer();
  served = new Served(place);
  await served.start();
}, 60_000);
afterAll(async () => {
  place.remove();
  await model.close();
});
beforeEach(() => model.ledger.clear());

interface Shown {
  readonly evaluation_id: string;
  readonly status: string;
  readonly error_message: string | null;
  readonly metadata: { readonly num_examples: number };
  readonly eval_config: { readonly stop_when?: string };
  readonly edgewise: { readonly settled: boolean; readonly done_rollouts: number; readonly owed_rollouts: number; readonly stopped_early?: StoppedRun };
}

const reverse = (...more: readonly string[]): string[] => ["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-r", "1", "-c", "8", ...more];
const calls = (): number => model.ledger.stats().total;
const newest = (): string => place.resultsFolders().at(-1) ?? "";
const metadataIn = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8")) as {
    readonly num_examples: number;
    readonly edgewise: {
      readonly run_id: string;
      readonly status: string;
      readonly reward_ci95: readonly [number, number];
      readonly stopped_early?: StoppedRun;
    };
  };
const shown = async (id: string): Promise<Shown> => (await (await served.ask(`/evaluations/${id}`)).json()) as Shown;
const settled = async (id: string): Promise<Shown> => {
  await until(async () => (await shown(id)).edgewise.settled, 30_000);
  return await shown(id);
};
const create = async (config: object): Promise<string> => {
  const body = { environment_ids: ["reverse-text"], inference_model: "scripted", eval_config: { api_base_url: model.url, rollouts_per_example: 1, ...config } };
  return ((await (await served.ask("/hosted-evaluations", body)).json()) as { evaluation_id: string }).evaluation_id;
};

describe("a run with a rule to stop by", () => {
  it("ends long before its last example, says so everywhere, and goes on without the rule where that is asked for", { timeout: 60_000 }, async () => {
    model.setScript({ accuracy: 0.3, latency_ms: 20 });
    const { code, stdout } = await place.run(reverse("-n", "400", "--stop-when", "mean<0.7"));
    const folder = newest();
    const { num_examples, edgewise } = metadataIn(folder);
    const { stopped_early: stopped, run_id } = edgewise;
    expect([code, edgewise.status]).toEqual([0, "COMPLETED"]);
    expect(stopped).toMatchObject({ rule: "mean<0.7", alpha: 0.05, finding: "below", of: 400, saved: 400 - num_examples });
    expect(stopped?.interval[1]).toBeLessThan(0.7);
    expect(edgewise.reward_ci95).toEqual(stopped?.interval);
    expect(stopped?.examples).toBeLessThan(200);
    expect(num_examples).toBeLessThan(400);
    expect(rowsOf(folder)).toHaveLength(num_examples);
    // What was open was finished, and nothing is asked for that is thrown away.
    expect(calls()).toBe(num_examples);
    expect(stdout).toMatch(/^stops when: mean<0\.7 \(alpha 0\.05\)$/m);
    expect(stdout).toMatch(/^Stopped early after \d+ of 400 examples by mean<0\.7: the mean is below \(mean 0\.\d{3} to 0\.6\d\d, 95 % at any time\)$/m);
    expect(stdout).toMatch(/^reward 95% interval: 0\.\d{3} to 0\.6\d\d \(at any time; of all 400 examples, from \d+ of them\)$/m);
    const [got, listed, verified] = await Promise.all([place.run(["eval", "get", run_id]), place.run(["eval", "list"]), place.run(["verify", folder])]);
    expect(got.stdout).toMatch(/^Stopped +Stopped early after \d+ of 400 .*; \d+ rollouts saved$/m);
    expect(got.stdout).toContain("--stop-when never (plays the other examples too)");
    expect(listed.stdout).toContain("COMPLETED (early)");
    expect(verified).toMatchObject({ code: 0 });

    const again = await place.run(["eval", "run", "reverse-text", "-R", folder]);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringMatching(/nothing left to do.*Stopped early after .* resume it with --stop-when never/s) });
    expect(calls()).toBe(num_examples);
    const whole = await place.run(["eval", "run", "reverse-text", "-R", folder, "--stop-when", "never"]);
    expect(whole.code).toBe(0);
    expect(keysOf(folder)).toHaveLength(400);
    expect(metadataIn(folder)).toMatchObject({ num_examples: 400 });
    expect(metadataIn(folder).edgewise).not.toHaveProperty("stopped_early");
    expect(calls()).toBe(400);
  });

  it("may be asked for in a TOML file", { timeout: 30_000 }, async () => {
    model.setScript({ accuracy: 0.3 });
    writeFileSync(
      join(place.folder, "rule.toml"),
      `model = "scripted"\napi_base_url = "${model.url}"\nrollouts_per_example = 2\nmax_concurrent = 8\n[[eval]]\nenv_id = "reverse-text"\nnum_examples = 300\nstop_when = "halfwidth < 0.15"\nstop_alpha = 0.1\n`,
    );
    const before = place.resultsFolders().length;
    expect((await place.run(["eval", "run", "rule.toml"])).code).toBe(0);
    expect(place.resultsFolders()).toHaveLength(before + 1);
    const made = place.resultsFolders().find((folder) => metadataIn(folder).edgewise.stopped_early?.rule === "halfwidth<0.15") ?? "";
    const { num_examples, edgewise } = metadataIn(made);
    const [low, high] = edgewise.stopped_early?.interval ?? [0, 1];
    expect(edgewise.stopped_early).toMatchObject({ alpha: 0.1, finding: "narrow enough", of: 300, saved: 2 * (300 - num_examples) });
    expect((high - low) / 2).toBeLessThan(0.15);
    expect(calls()).toBe(2 * num_examples);
  });

  it("stops over HTTP once it is known to be worse than a baseline, whose rows were read before its first call", { timeout: 60_000 }, async () => {
    model.setScript({});
    const baseline = await create({ num_examples: 400 });
    expect(await settled(baseline)).toMatchObject({ status: "COMPLETED" });
    expect((await place.run(["baseline", "set", "nightly", baseline])).code).toBe(0);
    model.setScript({ accuracy: 0.3, latency_ms: 20 });
    const before = calls();
    const id = await create({ num_examples: 400, max_concurrent: 8, stop_when: "vs nightly" });
    const run = await settled(id);
    expect(run.eval_config.stop_when).toBe(`vs ${baseline}`);
    expect(run).toMatchObject({ status: "COMPLETED", edgewise: { owed_rollouts: 0, stopped_early: { rule: `vs ${baseline}`, finding: "worse", of: 400 } } });
    expect(run.edgewise.stopped_early?.examples).toBeLessThan(60);
    expect(run.metadata.num_examples).toBeLessThan(350);
    expect(calls() - before).toBe(run.metadata.num_examples);
    const compared = await place.run(["compare", baseline, id]);
    expect(compared.stdout).toContain(`one of the runs stopped early, by vs ${baseline}: intervals here are those of a run of fixed size`);

    // Of other examples there is nothing to hold it against, which is found before anything is asked of the model.
    const asked = calls();
    const other = await settled(await create({ num_examples: 20, env_args: { seed: 7 }, stop_when: `vs ${baseline}` }));
    expect(other).toMatchObject({ status: "FAILED", error_message: expect.stringMatching(/is of other data: it has not 20 of the examples of this run/) });
    const more = await settled(await create({ num_examples: 410, stop_when: `vs ${baseline}` }));
    expect(more).toMatchObject({ status: "FAILED", error_message: expect.stringMatching(/it has not 10 of the examples of this run/) });
    expect(calls()).toBe(asked);
  });

  it("is refused by name where it makes no sense", { timeout: 30_000 }, async () => {
    const refused = async (config: object, text: RegExp): Promise<void> => {
      await expect(create({ num_examples: 4, ...config })).rejects.toThrow(text);
    };
    await refused({ stop_when: "median<0.5" }, /stop_when.*is no rule to stop by.*halfwidth<0\.02/s);
    await refused({ stop_when: "vs nobody" }, /stop_when.*there is no baseline nobody/s);
    await refused({ stop_when: "vs 0000beef" }, /stop_when.*there is no run 0000beef/s);
    await refused({ stop_when: "mean<0.5", cluster_by: "task" }, /stop_when.*cluster_by says that they are not independent/s);
    await refused({ stop_when: "mean<0.5", order: "data" }, /stop_when.*random order/s);
    await refused({ stop_alpha: 0.1 }, /stop_alpha.*stop_when.*not asked for/s);
    await refused({ stop_when: "mean<0.5", stop_alpha: 0 }, /stop_alpha/);
    const impossible = await settled(await create({ num_examples: 4, stop_when: "mean<7" }));
    expect(impossible).toMatchObject({ status: "FAILED", error_message: expect.stringMatching(/rewards of this environment are from 0 to 1/) });
    const typed = await place.run(reverse("--stop-when", "mean=0.5"));
    expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining("is no rule to stop by") });
    expect(calls()).toBe(0);
  });
});
