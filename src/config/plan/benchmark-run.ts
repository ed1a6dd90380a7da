import type { JsonObject } from "./run-config.ts";

/** Of a benchmark's chat template what a run is told; in files and over HTTP by the same names. */
export interface ChatTemplate {
  /** Empty or absent: none. */
  readonly system_prompt?: string | undefined;
  /** With one place `{prompt}`; of benchmark folders only. */
  readonly user_template?: string | undefined;
  /** Sent as `chat_template_kwargs`, which vLLM and SGLang take; absent = not sent. */
  readonly enable_thinking?: boolean | undefined;
}

/** How a benchmark is asked, by the seed's names in files and over HTTP; what is absent is the seed's default. */
export interface BenchmarkFields {
  readonly max_tokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** The first so many tasks; absent = all. */
  readonly limit?: number | null | undefined;
  readonly num_samples?: number | undefined;
  readonly n_concurrent?: number | undefined;
  readonly chat_template?: ChatTemplate | undefined;
}

/** The settings of the run that a benchmark's fields come to, by the names of a config file; `env_args` is absent where the fields say nothing of the environment. */
export function benchmarkRun({ max_tokens = 256, temperature = 0, limit, num_samples = 1, n_concurrent = 8, chat_template = {} }: BenchmarkFields): {
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly max_concurrent: number;
  readonly sampling_args: JsonObject;
  readonly env_args?: JsonObject;
} {
  const { system_prompt = "", user_template, enable_thinking } = chat_template;
  const thinking: JsonObject = enable_thinking === undefined ? {} : { extra_body: { chat_template_kwargs: { enable_thinking } } };
  const args: JsonObject = { ...(system_prompt === "" ? {} : { system_prompt }), ...(user_template === undefined ? {} : { user_template }) };
  return {
    num_examples: limit ?? -1,
    rollouts_per_example: num_samples,
    max_concurrent: n_concurrent,
    sampling_args: { max_tokens, temperature, ...thinking },
    ...(Object.keys(args).length === 0 ? {} : { env_args: args }),
  };
}
