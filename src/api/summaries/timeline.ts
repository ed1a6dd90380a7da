import { Hono } from "hono";
import type { z } from "zod";
import { NO_SAMPLES, type Sample } from "../../../durable-objects/run/timeline/samples.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppContext } from "../app-context.ts";
import { askRun } from "../cells/ask-run.ts";
import { found, viewOf } from "../runs/run-of.ts";
import type { timeline as answer } from "./summary-schemas.ts";

/** `/evaluations/{id}/timeline`: how a run stood over time. */
export const timeline = new Hono<AppContext>();

timeline.get("/:id/timeline", async (c) => {
  const taken = found(await askRun(c, (run) => run.timeline()));
  if (taken === "none") mayHaveNone(await viewOf(c));
  const { step_ms, samples } = taken === "none" ? NO_SAMPLES : taken;
  const of = <Key extends keyof Sample>(key: Key): Sample[Key][] => samples.map((sample) => sample[key]);
  const said: z.infer<typeof answer> = {
    step_ms,
    t: of("t"),
    generation: of("generation"),
    done: of("done"),
    errored: of("errored"),
    in_flight: of("in_flight"),
    waiting: of("waiting"),
    limit: of("limit"),
    bound: of("bound"),
    bound_limit: of("bound_limit"),
    examples: of("examples"),
    reward: of("reward"),
    lo: of("lo"),
    hi: of("hi"),
    input_tokens: of("input_tokens"),
    output_tokens: of("output_tokens"),
  };
  return c.json(said);
});

/** A run that has only begun has none yet; any other will never have one. */
function mayHaveNone({ phase, pushed }: { readonly phase: string; readonly pushed?: object }): void {
  if (pushed !== undefined)
    throw new EdgewiseError("not_found", "The evaluation was pushed: how it went is not recorded.", { hint: "Its rows have their own times." });
  if (phase === "settled")
    throw new EdgewiseError("not_found", "How the run went is not recorded: it was made by a version of before.", {
      hint: "A resume that makes more of it records that.",
    });
}
