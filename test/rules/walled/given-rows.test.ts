import { describe, expect, it } from "vitest";
import { z } from "zod";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { repairGroup } from "../../../src/environments/unit/repair-group.ts";
import { runUnit, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { openSession } from "../../../src/environment-session/session.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { rawFields } from "../../../src/rollouts/rows/raw-fields.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { changing, errorsOf, opened, type Said } from "../../support/walled/lying.ts";
import { memoryChannels } from "../../support/walled/memory-channels.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";
import { walledBy } from "../../support/walled/walled.ts";

const TIMING =
  '{"start_time": 1777000000.25, "setup": {"start": 1777000000.25, "end": 1777000000.5, "duration": 0.25}, "generation": {"start": 1777000000.5, "end": 1777000002.5, "duration": 2.0}, ' +
  '"scoring": {"start": 1777000002.5, "end": 1777000003.0, "duration": 0.5}, "model": {"spans": [], "duration": 0.0}, "env": {"spans": [], "duration": 0.0}, "total": 2.5, "overhead": 0.75}';
/** As verifiers 0.1.14 writes it, of another example. */
const ROW =
  '{"example_id": 77, "prompt": [{"role": "user", "content": "2+2"}], "completion": [{"role": "assistant", "content": "\\u00e9 4"}], "answer": "4", "reward": 0.50, "error": null, ' +
  `"timing": ${TIMING}, "is_completed": true, "is_truncated": false, "stop_condition": "done", "metrics": {"right": 1e0, "num_turns": 1.0}, "tool_defs": [], "right": 1e0, "num_turns": 1.0, "own": [1, 2.50]}`;
const failed = (error: string): string =>
  ROW.replace('"error": null', `"error": {"error": "${error}", "error_chain_repr": "${error}()", "error_chain_str": "${error}"}`);

const withRow = ({ text: _, ...message }: Said, row: unknown, code?: string): Said => ({ ...message, row, ...(code === undefined ? {} : { code }) }) as Said;
const giving = (row: unknown, code?: string) => changing("ended", (message) => [withRow(message, row, code)]);

describe("a rollout that comes with the row of its own library", () => {
  it("has that row byte for byte, as the rollout that was asked for, with what we add behind", async () => {
    const { run } = await opened(giving(ROW));
    const { lines, summaries } = await run({ envDigest: "v2:x" }, undefined, 2);
    const own = ROW.replace('"example_id": 77', '"example_id": 4').slice(0, -1);
    expect(lines).toEqual([0, 1].map((index) => `${own}, "rollout_index": ${index}, "env_digest": "v2:x"}`));
    expect(summaries).toMatchObject([1, 2].map(() => ({ reward: 0.5, error: null, metrics: { right: 1, num_turns: 1 } })));
  });

  it("is told as one that is generated and scored", async () => {
    const { run } = await opened(giving(ROW));
    const told: string[] = [];
    await run({ onRollout: (index) => void told.push(`generated ${index}`), onScored: (index, { reward }) => void told.push(`scored ${index} ${reward}`) });
    expect(told).toEqual(["generated 0", "scored 0 0.5"]);
  });

  const CASES: readonly (readonly [string, unknown, RegExp])[] = [
    ["no JSON", "{", /has a row that is none/],
    ["no object", "[1]", /has a row that is none/],
    ["deep", `{"a":${"[".repeat(200_000)}`, /has a row that is none/],
    ["without a reward", ROW.replace('"reward": 0.50, ', ""), /has a row that is none: .*reward/],
    ["with a reward that is a text", ROW.replace("0.50", '"much"'), /has a row that is none: .*reward/],
    ["with a completion that is none", ROW.replace('"completion": [', '"completion": [3, '), /has a row that is none/],
    ["with a metric that overwrites the row", ROW.replace('"num_turns": 1.0}', '"rollout_index": 1}'), /metric called rollout_index/],
    ["with many metrics", ROW.replace('"num_turns": 1.0}', `${Array.from({ length: 2_000 }, (_, at) => `"m${at}": 1`).join(", ")}}`), /too many metrics/],
    ["without end", `${ROW}${" ".repeat(4 * 1024 * 1024)}`, /more than 3 MiB/],
  ];
  it.each(CASES)("is an error, and no reward of 0, where the row is %s", async (_, row, message) => {
    const { run } = await opened(changing("ended", (said) => [said.rollout === 1 ? withRow(said, row) : said]));
    const [first, second] = errorsOf(await run({}, undefined, 2));
    expect(first).toMatchObject({ reward: 1, code: null });
    expect(second).toMatchObject({ reward: 0, code: "environment_error" });
    expect(second?.message).toMatch(message);
  });

  it("breaks the protocol where it comes with a state as well", async () => {
    const { run } = await opened(changing("ended", (message) => [{ ...message, row: ROW }]));
    expect(errorsOf(await run())).toMatchObject([
      { code: "environment_error", message: expect.stringMatching(/broke the protocol: .*one of text and row/) as string },
    ]);
  });

  it("ends in the error that its library had, as far as that is an environment's to say", async () => {
    const codeOf = async (row: string, code?: string) => errorsOf(await (await opened(giving(row, code))).run())[0]?.code;
    expect(await codeOf(failed("KeyError"))).toBe("environment_error");
    expect(await codeOf(failed("SandboxError"))).toBe("sandbox_error");
    expect(await codeOf(failed("ModelError"), "rate_limited")).toBe("rate_limited");
    expect(await codeOf(failed("ModelError"), "no such code")).toBe("provider_error");
    expect(await codeOf(failed("ModelError"), "auth_failed")).toBe("environment_error");
    expect(await codeOf(failed("ModelError"), "poisoned")).toBe("environment_error");
    const { run } = await opened(giving(failed("ModelError"), "auth_failed"));
    const refused = scripted(() => new EdgewiseError("auth_failed", "401"));
    // The session says by itself that the run cannot go on; a library that goes on says it in its rows.
    const said = await run({}, refused);
    expect(said.fatal?.code ?? errorsOf(said)[0]?.code).toBe("auth_failed");
  });

  it("says nothing of judges, of other code and of other rollouts that counts", async () => {
    const { run } = await opened(giving(ROW.replace('"own"', '"judge_usage": {"requests": 9}, "env_digest": "v2:own", "rollout_index": 9, "own"')));
    const { lines, summaries } = await run();
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ rollout_index: 0, own: [1, 2.5] });
    expect(lines[0]).not.toMatch(/judge_usage|env_digest/);
    expect(summaries[0]).not.toHaveProperty("judges");
  });
});

describe("rows of another library that are scored with those that are drawn again", () => {
  it("keep all bytes but those of their scores", async () => {
    const definition = defineEnvironment({
      id: "env",
      version: "1",
      description: "",
      args: z.object({}),
      load: () =>
        new SingleTurnEnv({
          dataset: [{ question: "2+2" }],
          rubric: new Rubric([
            groupReward(function right({ completions }) {
              return completions.map(() => completions.length / 4);
            }),
          ]),
        }),
    });
    const { offered } = walledBy(definition, (channel) => {
      const { environment } = memoryChannels();
      environment.send = (batch) => channel.send((batch as readonly Said[]).map((each) => (each.type === "ended" ? withRow(each, ROW) : each)));
      openSession(() => definition, environment);
      channel.onBatch = (batch) => environment.onBatch(batch);
    });
    const hosted = await offered.load({}, { datasets: memoryDatasets("") });
    const client = scripted(() => response("4"));
    const first = await runUnit(hosted, EXAMPLE, unitOptions(client, 3));
    const kept = [0, 2].map((index) => ({ index, line: first.lines[index] as string, summary: first.summaries[index] as UnitOutcome["summaries"][number] }));
    const { lines } = await repairGroup(hosted, EXAMPLE, unitOptions(client, 3, { kept, scoredAnew: true }));
    for (const index of [0, 2]) {
      const [before, after] = [first.lines[index], lines[index]].map((line) => new Map(rawFields(line ?? "")));
      for (const [name, text] of before ?? [])
        if (!["reward", "metrics", "right", "num_turns", "timing"].includes(name)) expect(after?.get(name), name).toBe(text);
      expect(JSON.parse(lines[index] ?? "")).toMatchObject({ reward: 0.75, metrics: { right: 0.75 }, right: 0.75, scored_anew: true });
    }
    expect(lines[1]).toContain('"reward": 0.50, ');
  });
});
