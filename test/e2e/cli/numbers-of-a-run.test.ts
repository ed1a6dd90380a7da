import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Evaluation, EvaluationPage } from "../../../src/cli/connection/api-types.ts";
import type { RunMetadata } from "../../../src/report/metadata.ts";
import { Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

/** Twelve texts, two of each: those that ask the same share something. */
const TEXTS = ["snow", "river", "mountain", "garden", "window", "bread"].flatMap((text) => [text, text]);

let place: Workplace;
let model: ModelServer;
let served: Served;
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer({ accuracy: 0.5, faults: [{ when: { nth: 5 }, fault: { kind: "empty_content" } }] });
  served = new Served(place);
  await served.start();
  writeFileSync(join(place.folder, "texts.jsonl"), `${TEXTS.map((text) => JSON.stringify({ text })).join("\n")}\n`);
});
afterAll(async () => {
  await served.end("SIGTERM");
  place.remove();
  await model.close();
});

/** Runtimes round the last digit of a quantile their own way. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) => (typeof each === "number" ? Number(each.toPrecision(12)) : each));

const reverse = (...more: readonly string[]) =>
  place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-a", '{"dataset": "texts.jsonl"}', "-n", "12", ...more]);

describe("the numbers of a finished run with errors and clusters", () => {
  it("are the same in its report, its files, over HTTP, in both viewers, in `eval get` and in lists", { timeout: 60_000 }, async () => {
    const { stdout: report, stderr } = await reverse("-r", "2", "-c", "1", "-g", "answer");
    const metadata = JSON.parse(readFileSync(join(place.results, "metadata.json"), "utf8")) as RunMetadata;
    const { edgewise: own } = metadata;
    expect(own, stderr).toMatchObject({ cluster_by: "answer", n_clusters: 6, errored_rollouts: 1 });
    const text = ([low = 0, high = 0]: readonly number[]): string => `${low.toFixed(3)} to ${high.toFixed(3)}`;
    const interval = text(own.reward_ci95 ?? [0, 0]);
    const bounds = `${text([own.error_bounds?.worst ?? 0, own.error_bounds?.best ?? 0])}, as 4.2 % of the rollouts have no score`;
    const similarity = own.metric_estimates?.similarity;
    const [atTwo, allTwo] = [own.pass_at_k_ci95?.[2] ?? [0, 0], own.pass_all_k_ci95?.[2] ?? [0, 0]];

    expect(report).toContain(`reward 95% interval: ${interval} (over 6 values of answer`);
    expect(report).toContain(`reward if they had one: ${bounds}`);
    expect(report).toContain(`2: ${text(atTwo)}`);
    const again = await place.run(["eval", "report", own.run_id, "-o", "json"]);
    const { reward_ci95, reward_stderr, metric_estimates, pass_at_k_ci95, pass_all_k_ci95, error_bounds } = own;
    expect(rounded(JSON.parse(again.stdout))).toMatchObject(
      rounded({ reward_ci95, n_clusters: 6, reward_stderr, metric_estimates, pass_at_k_ci95, pass_all_k_ci95, error_bounds }) as object,
    );
    // Over examples, where that is asked for by a key that tells each from the others.
    const examples = JSON.parse((await place.run(["eval", "report", own.run_id, "-g", "example_id", "-o", "json"])).stdout);
    expect(examples).toMatchObject({ n_clusters: 12, avg_reward: metadata.avg_reward });

    const overHttp = (await (await served.ask(`/evaluations/${own.run_id}`)).json()) as Evaluation;
    expect(overHttp.metadata.cluster_by).toBe("answer");
    expect(overHttp.edgewise).toMatchObject({
      ...{ cluster_by: "answer", n_clusters: 6, reward_ci95, reward_stderr, error_bounds, pass_at_k_ci95, pass_all_k_ci95, metric_estimates },
      ...{ pass_at_k: metadata.pass_at_k, pass_all_k: metadata.pass_all_k, reward: expect.closeTo(metadata.avg_reward, 12) },
    });
    const [listed] = ((await (await served.ask("/evaluations")).json()) as EvaluationPage).evaluations;
    expect(listed?.edgewise).toMatchObject({ reward_ci95, pass_at_k: metadata.pass_at_k, pass_at_k_ci95, metric_estimates });

    // Whoever has a link reads the run on a plain page; the dashboard draws what the HTTP API says.
    const { link } = (await (await fetch(`${served.url}/api/v1/evaluations/${own.run_id}/link`, { method: "PUT" })).json()) as { link: string };
    const page = await (await fetch(link)).text();
    for (const shown of [`(95 % interval ${interval} over 6 values of answer)`, bounds, text(atTwo), text(allTwo), text(similarity?.ci95 ?? [0, 0])])
      expect(page).toContain(shown);

    const { stdout: got } = await place.run(["eval", "get", own.run_id]);
    for (const shown of [
      `95 % from ${interval} over 6 values of answer`,
      bounds,
      `2: ${text(atTwo)}`,
      `2: ${text(allTwo)}`,
      `similarity: ${text(similarity?.ci95 ?? [0, 0])}`,
    ])
      expect(got).toContain(shown);
    const { stdout: viewed } = await place.run(["eval", "view", place.results]);
    for (const shown of [`${interval} over 6 values of answer`, bounds, `2: ${text(atTwo)}`, `similarity: ${text(similarity?.ci95 ?? [0, 0])}`])
      expect(viewed).toContain(shown);
    expect(await place.run(["verify", own.run_id])).toMatchObject({ code: 0 });
  });

  it("are not made by a key that no example has: the run ends before its first call, and says which there are", { timeout: 60_000 }, async () => {
    const before = model.ledger.stats().total;
    const { code, stderr, stdout } = await reverse("-r", "1", "-g", "anser");
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/none of 12 examples has "anser" \(did you mean answer\?\).*Their columns are example_id, prompt, answer, task/s);
    expect(model.ledger.stats().total).toBe(before);
    const id = /Run (\w{8})/.exec(stdout + stderr)?.[1] ?? "";
    // Without a row it has measured nothing, so that another key may take the place.
    const mended = await place.run(["eval", "run", "reverse-text", "-R", id, "-g", "answer"]);
    expect(mended.code, mended.stderr).toBe(0);
    expect(mended.stdout).toContain("over 6 values of answer");
    const other = await place.run(["eval", "run", "reverse-text", "-R", id, "-g", "task"]);
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('cluster_by: the run has "answer", this command "task"')]);
  });
});
