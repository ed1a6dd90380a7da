import { z } from "zod";
import { STANDARD_COLUMNS } from "../../cells/column-names.ts";
import { COLUMNS_VERSION } from "../../cells/column-lines.ts";
import { wholeNumber } from "../schemas.ts";

/** What a grid of all rollouts of a run, and a page of one rollout, are made of. */

const count = z.int().min(0);
const text = z.string();
const number = z.number();
const object = z.record(z.string(), z.json());

export const columnsQuery = z.strictObject({
  names: text
    .max(8_192)
    .optional()
    .describe(
      `Columns with commas between, of ${STANDARD_COLUMNS.join(", ")} and m:<metric> (a comma or percent sign in the name of a metric as %2C, %25), at most 64. Left out: the first six, and the first 32 metrics.`,
    ),
  after: wholeNumber(0).optional().describe("`seq` of an answer before: only examples that were done, or done anew, since."),
  from: wholeNumber(0).optional().describe("`next` of an answer before to the same question."),
});

const exampleId = z.union([number, text, z.null()]);
const place = z.tuple([count, count]).describe("Example (its place in the results, from 0) and rollout.");

/** Lines of `columns`, as NDJSON. */
export const columnsHead = z.strictObject({
  kind: z.literal("head"),
  version: z.literal(COLUMNS_VERSION),
  generation: count.describe("Another one than before: begin anew."),
  seq: count,
  examples: count,
  rollouts: count,
  settled: z.boolean(),
  columns: z.array(text),
  metrics: z.array(text),
  error_codes: z.array(text.nullable()),
});
export const columnsBlock = z.strictObject({
  kind: z.literal("block"),
  examples: z.array(count),
  example_ids: z.array(exampleId).optional(),
  columns: z.record(text, z.array(number.nullable())),
});
export const columnsOpen = z.strictObject({ kind: z.literal("open"), places: z.array(place) });
export const columnsEnd = z.strictObject({ kind: z.literal("end"), seq: count, next: count.nullable() });
export const columnsLine = z.discriminatedUnion("kind", [columnsHead, columnsBlock, columnsOpen, columnsEnd]);

const messageOutline = z.strictObject({
  part: z.enum(["prompt", "completion"]),
  role: text,
  chars: count.describe("Characters of its text."),
  text: text.describe("The first 300 of them."),
  reasoning_chars: count.optional(),
  tool_calls: z.array(z.strictObject({ id: text.nullable(), name: text, chars: count.describe("Of its arguments.") })).optional(),
  tool_call_id: text.optional(),
  media: z.array(text).optional().describe("Kinds of its parts that are no text."),
});
const turn = z.strictObject({
  message: count,
  seconds: number.nullable(),
  input_tokens: number.nullable(),
  output_tokens: number.nullable(),
  cached: z.literal(true).optional(),
});
const longField = z.strictObject({ kind: z.enum(["text", "list", "object"]), size: count, start: text });
const ofRollout = {
  example: count,
  example_id: exampleId,
  rollout: count,
  open: z.literal(true).optional().describe("Generated, and of an example that is not complete: no number counts it yet."),
};

export const rolloutOutline = z.strictObject({
  ...ofRollout,
  bytes: count.describe("Of its row."),
  messages: z.array(messageOutline).describe("Of the prompt, then of the completion; their numbers count through both."),
  turns: z.array(turn).describe("What each answer of the model took; empty where the row does not say."),
  metrics: object,
  tools: z.array(text),
  fields: object.describe("All other fields of the row that are small."),
  long: z.record(text, longField).describe("And those that are not: the row has them whole."),
});

export const messagesQuery = z.strictObject({
  from: wholeNumber(0).default(0).describe("Number of the first message."),
  to: wholeNumber(0).optional().describe("Number behind the last one; left out: all."),
});
export const rolloutMessages = z.strictObject({
  from: count,
  messages: z.array(z.strictObject({ part: z.enum(["prompt", "completion"]), message: object })).describe("About 4 MB of them, at least one."),
  next: count.nullable().describe("Number of the next message; null = there is none, or it was not asked for."),
});
