import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortDigest } from "../../../src/config/env-digest.ts";
import { grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { type OtherBuild, otherBuild } from "../../support/cli/other-build.ts";
import { jsonRows } from "../../support/results/results-check.ts";
import { Served } from "../../support/cli/served.ts";

const REWARD = "similarity(parser.parseAnswer(completion)";
const VERSION = '"version": "0.1.0"';
const [EXAMPLES, ROLLOUTS] = [60, 2];

/** Another release whose environments are the same; one that gives half of each reward; and the first of them with those rewards. */
let engine: OtherBuild;
let rewards: OtherBuild;
beforeAll(() => {
  engine = otherBuild({ "package.json": [VERSION, '"version": "0.1.1"'] });
  rewards = otherBuild({
    "package.json": [VERSION, '"version": "0.2.0"'],
    "src/environments/bundled/reverse-text/reverse-text.ts": [REWARD, `0.5 * ${REWARD}`],
  });
});
afterAll(() => {
  engine?.remove();
  rewards?.remove();
});

describe("a deployment that is exchanged under a working run", () => {
  it(
    "goes on where the environment's code is the same, waits with the reason where it is not, and makes no row of mixed code",
    { timeout: 170_000 },
    inPlace({ latency_ms: 120 }, async ({ place, model }) => {
      const own = place.command;
      const service = new Served(place);
      const calls = (): number => model.ledger.stats().total;
      await service.start();
      const id = await service.create(model.url, { num_examples: EXAMPLES, rollouts_per_example: ROLLOUTS, max_concurrent: 4 });
      const { edgewise } = await service.when(id, ({ edgewise: { done_rollouts } }) => done_rollouts >= 10, "the first rows");
      const code = edgewise.env_digest;

      // Another release, the same environment: nobody notices.
      await service.end("SIGTERM");
      await service.start(engine.command);
      expect(await (await service.ask("/openapi.json")).json()).toMatchObject({ info: { version: "0.1.1" } });
      const before = (await service.run(id)).edgewise.done_rollouts;
      await service.when(id, ({ edgewise: { done_rollouts } }) => done_rollouts >= before + 20, "rows of the next release");

      // Another environment: the run waits, calls no model, and every door says for what.
      await service.end("SIGKILL");
      await service.start(rewards.command);
      const waiting = await service.when(id, ({ edgewise: { waiting_for } }) => waiting_for !== undefined, "the run to wait");
      const asked = calls();
      const found = waiting.edgewise.waiting_for?.found ?? "";
      expect(waiting).toMatchObject({
        status: "RUNNING",
        edgewise: { env_digest: code, waiting_for: { env_digest: code, found: expect.not.stringMatching(code) } },
      });
      for (const told of [await place.run(["eval", "get", id]), await place.run(["eval", "logs", id])]) {
        expect(told).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`${shortDigest(code)}.*${shortDigest(found)}.*--accept-code-change`)) });
      }
      expect((await place.run(["eval", "list"])).stdout).toContain("WAITING");
      expect(calls()).toBe(asked);

      // The first one again: the run goes on, though nobody asked for it.
      const done = waiting.edgewise.done_rollouts;
      await service.end("SIGTERM");
      await service.start(own);
      await service.when(id, (now) => now.edgewise.done_rollouts > done && now.edgewise.waiting_for === undefined, "the run to go on");

      // Nobody brings the code back in time: it ends, named.
      await service.end("SIGKILL");
      await service.start(rewards.command, { CODE_WAIT_MS: "2500" });
      const ended = await service.when(id, (now) => now.edgewise.settled, "the end of the wait");
      expect(ended).toMatchObject({ status: "FAILED", error_message: expect.stringMatching(new RegExp(`${shortDigest(code)}.*${shortDigest(found)}`)) });
      expect(ended.error_message).toContain("code_changed");
      expect(calls()).toBeLessThan(EXAMPLES * ROLLOUTS);

      // And what it has is kept for whoever has the code.
      await service.end("SIGTERM");
      await service.start(own);
      await service.ask(`/evaluations/${id}/resume`, {});
      await service.when(id, (now) => now.edgewise.settled && now.status === "COMPLETED", "the end of the run");
      const rows = jsonRows(await service.file(id, "results.jsonl"));
      expect(keysOfRows(rows)).toEqual(grid(EXAMPLES, ROLLOUTS));
      expect(rows.filter((row) => "env_digest" in row || row.reward !== 1 || row.error !== null)).toEqual([]);
      const metadata = JSON.parse(await service.file(id, "metadata.json")) as { edgewise: Record<string, unknown> };
      expect(metadata.edgewise).toMatchObject({ env_digest: code });
      expect(metadata.edgewise).not.toHaveProperty("env_digests");
      await service.end("SIGTERM");
    }),
  );
});
