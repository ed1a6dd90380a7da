import { z } from "zod";
import { EdgewiseError } from "../../../errors/result.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import { OpenEnvEnv } from "../../openenv/openenv-env.ts";
import { textRenderer } from "../../openenv/text-renderer.ts";

/** Whatever an OpenEnv server plays, shown to the model as texts. */
export const openenv = defineEnvironment({
  id: "openenv",
  version: "1.0.0",
  description:
    "Episodes on an OpenEnv server (openenv-core): the model's answers are actions, or it calls the server's tools; the reward is the sum of its rewards.",
  args: z.object({
    url: z.string().default("").describe("where the server is: http://localhost:8000; on the command line a project's folder starts one"),
    instruction: z.string().default("").describe("what stands before the first observation, and before how to act"),
    observation_field: z.string().default("").describe("the field of an observation that the model is shown; empty: the only one, or all as JSON"),
    max_turns: z.int().default(20).describe("model calls of an episode; below 1 for no limit"),
    seed: z.int().min(0).default(0).describe("seed of the first episode; each has the next"),
    num_examples: z.int().min(1).max(100_000).default(100).describe("episodes that there are, from the seed on; -n takes the first of them"),
    startup_timeout_seconds: z.number().min(0).default(30).describe("how long a server may not answer"),
  }),
  load({ url, instruction, observation_field, max_turns, seed, num_examples, startup_timeout_seconds }, { dataset, openEnv }) {
    if (dataset !== null) throw new EdgewiseError("invalid_request", "environment openenv: its examples are resets of the server; it takes no dataset");
    if (url === "") {
      throw new EdgewiseError("invalid_request", "environment openenv: the argument url is missing", {
        hint: `name a server, -a '{"url": "http://localhost:8000"}', or run a project's folder: npx edgewise eval run ./my-openenv-folder`,
      });
    }
    openEnv(url);
    return new OpenEnvEnv({
      url,
      connect: openEnv,
      promptRenderer: textRenderer({ instruction, ...(observation_field === "" ? {} : { field: observation_field }) }),
      maxTurns: max_turns,
      seed,
      // One list, from the seed on, for training and evaluation.
      numTrainExamples: num_examples,
      numEvalExamples: 0,
      startupTimeoutSeconds: startup_timeout_seconds,
    });
  },
});
