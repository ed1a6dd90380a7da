import { z } from "zod";
import { USUAL_FIELDS } from "../../cells/search-row.ts";
import { STANDARD_COLUMNS } from "../../cells/column-names.ts";
import { COLUMNS_VERSION } from "../../cells/column-lines.ts";
import { plainText } from "../../config/plain-text.ts";
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
  text: text.describe("The first 300 of them; fewer where there are thousands of messages."),
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

/** Places of one question, and characters of each text: a screen of a grid. */
export const MOST_PREVIEWS = 200;
export const MOST_PREVIEW_CHARACTERS = 500;
export const MOST_FIELDS = 16;
const field = plainText(200).min(1);

export const previewsBody = z.strictObject({
  places: z.array(place).max(MOST_PREVIEWS),
  fields: z
    .array(field)
    .min(1)
    .max(MOST_FIELDS)
    .describe(
      "prompt (its last question), completion (its last answer), turns, seconds, error (its message), info.<key>, and any other field of the row by its name.",
    ),
  characters: z.int().min(1).max(MOST_PREVIEW_CHARACTERS).default(200).describe("Of each text at most."),
});
const cell = z.union([text, number, z.boolean(), z.null()]);
const preview = z.strictObject({
  ...ofRollout,
  values: z.record(text, cell).describe("By field; null where the row has none."),
  cut: z.array(text).optional().describe("Fields whose text is longer."),
});
const unread = z.strictObject({
  example: count,
  rollout: count,
  unread: z.literal(true).describe("Its row is too large to be read beside the others: ask for it again."),
});
const reasons = { code: z.literal("row_unreadable"), reason: text.describe("What of it is no row: torn, no JSON object, or nested too deep.") };
const unreadable = z.strictObject({
  example: count,
  rollout: count,
  open: ofRollout.open,
  unreadable: z.strictObject(reasons).describe("What is stored of it cannot be read; asking again changes nothing."),
});
export const previews = z.strictObject({
  previews: z.array(z.union([preview, unread, unreadable, z.null()])).describe("In the order of the places; null where there is no row, or not yet."),
});

export const searchQuery = z.strictObject({
  text: plainText(200).min(1).optional().describe("Stands in one of the fields of `in`; case makes no difference."),
  in: text
    .max(2_000)
    .default(USUAL_FIELDS.join(","))
    .describe("Fields with commas between: prompt and completion (all of their messages), answer, info.<key>, and any other field of a row."),
  field: field.optional().describe("A field, such as info.<key>, that has the value `value`."),
  value: text.max(1_000).optional(),
  after: wholeNumber(0).optional().describe("`next` of an answer before to the same question."),
});
/** Lines of `search`, as NDJSON. */
export const searchLine = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("match"), example: count, rollout: count, field: text.nullable(), excerpt: text }),
  z.strictObject({ kind: z.literal("unreadable"), example: count, rollout: count, ...reasons }).describe("Its row may have the text, and cannot be read."),
  z.strictObject({ kind: z.literal("progress"), scanned: count.describe("Rows looked at so far by this answer.") }),
  z.strictObject({ kind: z.literal("end"), scanned: count, next: count.nullable().describe("The next `after`; null = that was all.") }),
]);
