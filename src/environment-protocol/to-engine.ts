/** What the environment's side says. Whatever it is, it is checked before it is used: docs/environment-protocol.md, "What is believed". */
import { z } from "zod";
import { RELAY_ROUTES } from "../rollouts/types.ts";
import { sandboxRequest } from "./sandbox-values.ts";
import { crossedError, datasetSpec, endpoint, example, facts, failure, json, jsonObject, message, number, problem, rollout, tool, traits } from "./values.ts";

const text = z.string();
const type = <const T extends string>(name: T) => z.literal(name);
const word = { unit: number, rollout, text: text.describe("a kept state (docs/decisions/kept-states.md)") };
const scores = z
  .object({
    reward: z.number().nullable(),
    metrics: z.record(text, z.number()).nullable(),
    advantage: z.number().nullable(),
    error: json.describe("as in a state"),
    timing: jsonObject,
    scoring: z.object({ start: z.number(), end: z.number() }).nullable(),
    columns: jsonObject.describe("state columns as they are now"),
    lacks: z.array(text).describe("what was asked of the rollout and its row does not hold"),
    state: number.nullable(),
  })
  .meta({ id: "scores" });

export const TO_ENGINE = {
  described: z.object({ type: type("described"), facts }).describe("Answers `describe`."),
  checked: z.object({ type: type("checked"), problem: problem.nullable() }).describe("Answers `check`."),
  resolved: z.object({ type: type("resolved"), args: jsonObject }).describe("Answers `resolve_args`."),
  opened: z.object({ type: type("opened"), traits }).describe("Answers `open`."),
  failed: z.object({ type: type("failed"), error: crossedError }).describe("Answers any of the four that begin, where that went wrong, and `close`."),
  examples: z
    .object({
      type: type("examples"),
      read: number,
      rows: z.array(example),
      done: z.boolean(),
      size: z.int().min(0).nullable().describe("tasks that the data set has in all, where that is known by now"),
      error: crossedError.optional(),
    })
    .describe("A page: at most 500 examples, at most about 1 MiB of them. With `error` it is the last."),
  call: z
    .object({
      type: type("call"),
      call: number,
      unit: number.nullable().describe("null: nobody knows for which"),
      to: endpoint.nullable().describe("null: the model under evaluation"),
      state: number.nullable().describe("the state that it is for; `ended` names it again"),
      rollout: rollout.optional().describe("which rollout of its example that state is of: a request that says it may be answered from the cache"),
      state_values: jsonObject.optional().describe("values of the keys that `play` asked for"),
      watches: z.boolean().describe("whether it makes a difference that the model has begun to answer"),
      request: z.union([
        z.object({ kind: z.literal("response"), prompt: z.array(message), sampling_args: jsonObject, tools: z.array(tool), model: text.optional() }),
        z.object({ kind: z.literal("scores"), texts: z.array(text), top: z.int().min(0).optional(), model: text.optional() }),
        z
          .object({ kind: z.literal("relay"), route: z.enum(RELAY_ROUTES).describe("below the endpoint's base URL"), body: jsonObject })
          .describe("a request that the environment's code made itself, passed on as it is but for its `model`; `to` is null"),
      ]),
    })
    .refine(({ to, request }) => request.kind !== "relay" || to === null, { path: ["to"], message: "a relay is for the model under evaluation" })
    .describe("Asks a model. Answered by `answer`, once. The model's name counts for other models than the one under evaluation."),
  cancel_call: z.object({ type: type("cancel_call"), call: number }).describe("No answer is wanted, and none comes."),
  data: z.object({ type: type("data"), read: number, spec: datasetSpec }).describe("Reads a data set. Answered by `data_rows`."),
  data_next: z.object({ type: type("data_next"), read: number }).describe("The next page of it."),
  data_end: z.object({ type: type("data_end"), read: number }).describe("No more of it is wanted."),
  sandbox: z
    .object({
      type: type("sandbox"),
      call: number,
      driver: text
        .max(64)
        .nullable()
        .describe("whose sandboxes the environment would rather have (`local`, `prime`, …); what the run chose wins. null: the run's"),
      request: sandboxRequest,
    })
    .describe("Has something done with a sandbox of the run. Answered by `sandbox_result`, once."),
  cancel_sandbox: z.object({ type: type("cancel_sandbox"), call: number }).describe("Nobody waits for it any more: a command is ended. No answer comes."),
  generated: z
    .object({ type: type("generated"), ...word })
    .describe("A rollout is generated, whatever it ended in. Left out where its scores come in a moment."),
  scoring: z
    .object({ type: type("scoring"), unit: number, rollout: rollout.nullable().describe("null: all together") })
    .describe("Scoring begins. Left out where it takes a moment."),
  scored: z.object({ type: type("scored"), ...word }).describe("A rollout was scored by itself. Left out where its unit ends in a moment."),
  turn: z
    .object({
      type: type("turn"),
      unit: number,
      rollout,
      text: text.nullable(),
      problem: z.object({ path: text, problem: text }).optional().describe("why there is no text: the state is no JSON"),
    })
    .describe("Where a rollout can be gone on from. The newest counts."),
  generated_all: z.object({ type: type("generated_all"), unit: number }).describe("The unit waits for its `scoring_turn`."),
  ended: z
    .object({
      type: type("ended"),
      ...word,
      text: word.text.optional(),
      row: text.optional().describe("in place of `text`: a row as the library of the environment writes it, a line of its results.jsonl"),
      code: text.optional().describe("beside `row`, where it has an error: which one of ours it is"),
      state: number.nullable(),
      problem: z.object({ path: text, problem: text }).optional().describe("the state is no JSON: the text has what rows need, and cannot be gone on with"),
    })
    .refine(({ text, row }) => (text === undefined) !== (row === undefined), { path: ["text"], message: "one of text and row" })
    .describe("A rollout in its last form: `text` or `row`."),
  rescored: z.object({ type: type("rescored"), unit: number, rollout, scores }).describe("A rollout that has a row, with its new scores."),
  played: z
    .object({ type: type("played"), unit: number, fatal: failure.nullable(), aborted: z.boolean() })
    .describe("The unit is over; `ended` and `rescored` of all its rollouts have come before, unless it was cut off."),
  scored_rows: z.object({ type: type("scored_rows"), unit: number, aborted: z.boolean() }).describe("Answers `score`, after the `rescored` of all rows."),
  unit_failed: z.object({ type: type("unit_failed"), unit: number, error: crossedError }).describe("A fault of this side."),
  print: z
    .object({ type: type("print"), level: z.enum(["DEBUG", "INFO", "WARNING", "ERROR"]), text: text.max(16_000) })
    .describe("What the environment's code prints, 1,000 times at most."),
  closed: z.object({ type: type("closed") }).describe("Answers `close`."),
} as const;

type Schemas = typeof TO_ENGINE;
export type ToEngine = { [Name in keyof Schemas]: z.infer<Schemas[Name]> }[keyof Schemas];
export type ToEngineOf<Name extends keyof Schemas> = z.infer<Schemas[Name]>;
