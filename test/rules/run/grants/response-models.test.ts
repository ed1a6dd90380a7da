import { describe, expect, it } from "vitest";
import { metadataOf } from "../../../../durable-objects/run/reading/run-metadata.ts";
import type { Grant, Vitals } from "../../../../durable-objects/run/protocol.ts";
import type { ResponseModel } from "../../../../src/metrics/response-models.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const seen = (model: string, answers: number): ResponseModel => ({ model, system_fingerprint: null, answers });
const vitals = (...models: readonly ResponseModel[]): Vitals => ({
  ...{ in_flight: 0, retries: 0, waiting: 0, paused_until: null },
  ...(models.length === 0 ? {} : { response_models: { seen: models } }),
});
const says = (run: RuleRun, grant: Grant, ...models: readonly ResponseModel[]) =>
  run.call("beat", { ...run.id(grant), started: [], vitals: vitals(...models) });

describe("what answers said of their model", () => {
  it("is counted by the run over all of its grants, each told as often as it likes, and stands in its metadata", async () => {
    const run = RuleRun.open(10);
    const [a, b] = [run.grant("a"), run.grant("b")];
    says(run, a, seen("m-1", 2));
    says(run, b, seen("m-2", 1));
    says(run, a, seen("m-1", 5), seen("m-2", 1));
    // One that was sent before.
    says(run, a, seen("m-1", 3));
    says(run, a);
    expect(run.head.response_models).toEqual({ seen: [seen("m-1", 5), seen("m-2", 2)] });
    run.block(a, 1);
    const units = [{ unit: 0, offset: 0, length: 10, rollouts: [summary()] }];
    run.call("commit", { ...run.id(a), segment: "1-1-1", units, started: [], vitals: vitals(seen("m-1", 6), seen("m-2", 1)) });
    run.call("leave", run.id(a));
    says(run, run.grant("c"), seen("m-1", 1));
    const counted = { seen: [seen("m-1", 7), seen("m-2", 2)] };
    expect(run.head.response_models).toEqual(counted);
    expect((await metadataOf(run.ledger, async () => true))?.edgewise.response_models).toEqual(counted);
  });

  it("is absent where no executor tells it", async () => {
    const run = RuleRun.open(1);
    says(run, run.grant("a"));
    expect(run.head).not.toHaveProperty("response_models");
    expect((await metadataOf(run.ledger, async () => true))?.edgewise).not.toHaveProperty("response_models");
  });
});
