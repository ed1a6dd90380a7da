/** What the engine's side says. */
import { z } from "zod";
import { sandboxResult } from "./sandbox-values.ts";
import { crossedError, example, json, jsonObject, number, PROTOCOL_VERSION, rollout, time } from "./values.ts";

const text = z.string();
const type = <const T extends string>(name: T) => z.literal(name);
const v = z.literal(PROTOCOL_VERSION);
const rows = z.array(z.object({ rollout, line: text.describe("a row of results.jsonl") }));
const signals = {
  stops: number.describe("the signal that ends the unit"),
  stops_generation: number.describe("the signal that ends what is not generated; may be the same"),
};
const model = {
  model: text,
  client_type: text,
  scores_texts: z.boolean().describe("whether the client can be asked for the log-probabilities of texts"),
  state_keys: z.array(text).describe("keys of the state whose values go with each call of the model under evaluation"),
  sampling_args: jsonObject.describe("of the run; the environment's own are under them"),
  independent: z.boolean(),
  deadline_ms: z.number().nullable(),
};

export const TO_ENVIRONMENT = {
  describe: z.object({ type: type("describe"), v }).describe("What is the environment? Answered by `described`. No data is read and no key is there."),
  check: z
    .object({
      type: type("check"),
      v,
      request: jsonObject.describe("env_args, extra_env_kwargs, independent_scoring, batch, rubric, variables"),
      keys: z.array(text),
    })
    .describe("What keeps a run from using it? Answered by `checked`. Of `keys` the values are the word `unread`."),
  resolve_args: z.object({ type: type("resolve_args"), v, args: jsonObject }).describe("The arguments with their defaults filled in. Answered by `resolved`."),
  open: z
    .object({
      type: type("open"),
      v,
      args: jsonObject,
      extra: jsonObject,
      rubric: text.nullable(),
      keys: z.record(text, text),
      variables: z.record(text, text),
    })
    .describe("Loads the environment. Answered by `opened`. Nothing of what follows comes before."),
  read: z.object({ type: type("read"), read: number, count: z.int().describe("below 1 = all") }).describe("The first examples. Answered by one `examples`."),
  read_next: z.object({ type: type("read_next"), read: number }).describe("The next page."),
  read_end: z.object({ type: type("read_end"), read: number }).describe("No more of them are wanted."),
  play: z
    .object({
      type: type("play"),
      unit: number,
      input: example,
      rollouts: z.array(rollout),
      ...model,
      ...signals,
      max_retries: z.int().min(0),
      generated: z.array(z.object({ rollout, text })).describe("kept states of rollouts that are generated, with scores where they have them"),
      begun: z.array(z.object({ rollout, text })).describe("kept states of rollouts that stand between two turns"),
      stored: z
        .object({ rows, columns: z.array(text) })
        .nullable()
        .describe("rollouts that have rows, and are scored with the others"),
      part: z.object({ scores: z.boolean() }).nullable().describe("the other rollouts of the example are played elsewhere"),
      waits_for_turn: z.boolean().describe("no rollout is scored before `scoring_turn`"),
      keeps_turns: z.boolean().describe("whether `turn` is wanted"),
      tells_all: z.boolean().describe("whether each `generated` is wanted, also of what is scored in a moment"),
      columns: z.array(text).describe("keys of the states that rows will carry"),
    })
    .describe("Plays the rollouts of one example side by side and scores them. Ends with `played`."),
  score: z
    .object({
      type: type("score"),
      unit: number,
      input: example,
      rows,
      columns: z.array(text),
      ...model,
      ...signals,
      row_only: z.boolean(),
      counts_answers: z.boolean(),
      forgets: z.array(text),
      waits_for_turn: z.boolean(),
    })
    .describe("Scores rollouts of one example from their rows. Ends with `scored_rows`."),
  permitted: z
    .object({ type: type("permitted"), call: number, at: time })
    .describe("The call holds its permit: time of its rollout counts. May come late, or with the answer only."),
  waits: z
    .object({ type: type("waits"), call: number, waiting: z.boolean(), at: time })
    .describe(
      "The call waits to be sent again, and no time of its rollout counts; or, with `waiting` false, it was sent. A side that does not know this message passes it over.",
    ),
  answering: z.object({ type: type("answering"), call: number }).describe("The model has begun to answer."),
  answer: z
    .object({
      type: type("answer"),
      call: number,
      permitted_at: time.optional().describe("as `permitted`, where that was not told"),
      answering: z.boolean().optional().describe("as `answering`, where that was not told"),
      response: jsonObject.optional(),
      scores: z.array(json).optional(),
      reply: z
        .object({ status: z.int(), content_type: text, text })
        .optional()
        .describe("of a relay: the server's answer as it came, an event stream as its whole text; beside `error` that of a server which refused"),
      error: crossedError.optional(),
    })
    .describe("What became of a call: one of `response`, `scores`, `reply` and `error`; a relay that a server refused has `reply` and `error`."),
  data_rows: z
    .object({ type: type("data_rows"), read: number, rows: z.array(jsonObject), done: z.boolean(), error: crossedError.optional() })
    .describe("A page of a data set."),
  sandbox_result: z
    .object({ type: type("sandbox_result"), call: number, result: sandboxResult.optional(), error: crossedError.optional() })
    .describe("What became of a `sandbox`: one of `result` and `error`."),
  scoring_turn: z.object({ type: type("scoring_turn"), unit: number }).describe("The unit may be scored."),
  leaving: z.object({ type: type("leaving") }).describe("Others go on with rollouts that tell their turns: each stops at its next one."),
  unkept: z.object({ type: type("unkept") }).describe("Nobody keeps turns any more."),
  abort: z
    .object({ type: type("abort"), signal: number, reason: crossedError, left: z.boolean().describe("rollouts are gone on with elsewhere") })
    .describe("Everything that has the signal ends, and says so as ever."),
  close: z.object({ type: type("close") }).describe("The environment is torn down. Answered by `closed`, the last message."),
} as const;

type Schemas = typeof TO_ENVIRONMENT;
export type ToEnvironment = { [Name in keyof Schemas]: z.infer<Schemas[Name]> }[keyof Schemas];
export type ToEnvironmentOf<Name extends keyof Schemas> = z.infer<Schemas[Name]>;
