import { z } from "zod";
import type { DatasetDefaults } from "../../datasets/spec.ts";
import { defineEnvironment, type DefinitionOptions, type EnvironmentDefinition, type LoaderContext } from "../definition/definition.ts";
import type { Environment } from "../kinds/environment.ts";
import type { EvaluationOptions } from "./evaluation.ts";

/** Arguments that every evaluation takes. */
const COMMON = {
  length: z.int().min(-1).default(-1).describe("samples drawn at random from all, always the same; -1 for all"),
  chunk_size: z
    .int()
    .min(1)
    .optional()
    .describe("samples under way at once in the whole run; left out = 160 by likelihood, whose texts share requests, else as many as its requests need"),
};

/** An evaluation, whatever its samples are. */
export interface MadeEvaluation {
  environment(options?: EvaluationOptions): Environment;
}

export interface EvaluationDefinition<Args extends z.ZodObject, Dataset extends DatasetDefaults | undefined>
  extends Omit<DefinitionOptions<Args, Dataset>, "load" | "args"> {
  /** Beside `length`, `chunk_size` and those of a data set; default none. */
  readonly args?: Args;
  /** Cheap: no sample is read before the run's inputs are pinned. */
  readonly load: (args: z.infer<Args>, context: LoaderContext<Dataset>) => MadeEvaluation;
}

const NO_ARGS = z.object({});

/**
 * An evaluation that can be named, checked and run as any environment: `export default defineEvaluation({ id, version, description, load: () => new MyEvaluation() })`. A run
 * of it has all samples, once each, unless it says otherwise.
 */
export function defineEvaluation<Args extends z.ZodObject = typeof NO_ARGS, const Dataset extends DatasetDefaults | undefined = undefined>(
  options: EvaluationDefinition<Args, Dataset>,
): EnvironmentDefinition {
  const { args = NO_ARGS, load, defaults, ...rest } = options;
  return defineEnvironment({
    ...rest,
    args: args.extend(COMMON),
    defaults: { num_examples: -1, rollouts_per_example: 1, ...defaults },
    load: ({ length, chunk_size, ...own }, context) => {
      const chunked = chunk_size === undefined ? {} : { chunkSize: Number(chunk_size) };
      return load(own as z.infer<Args>, context as LoaderContext<Dataset>).environment({ length: Number(length), ...chunked });
    },
  });
}
