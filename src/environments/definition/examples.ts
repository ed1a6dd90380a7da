import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { normaliseMessages } from "../../rollouts/messages.ts";
import type { Message, RolloutInput } from "../../rollouts/types.ts";

/**
 * Rows of a data set, from the front. `count` is what will be taken (below 1 = all), for sources that make their rows; a
 * source that reads them is simply read no further.
 */
export type RowSource = (count: number) => AsyncIterable<JsonObject>;

export interface ExampleFormat {
  readonly systemPrompt: string | null;
  readonly fewShot: readonly Message[];
  /** `task` of rows that name none. */
  readonly task: string;
}

const unreadable = (row: number, text: string, hint?: string): EdgewiseError =>
  new EdgewiseError("dataset_unreadable", `data set row ${row}: ${text}`, hint === undefined ? {} : { hint });

/**
 * The first `count` rows (below 1 = all) as rollout inputs, row by row. A `prompt` stays as it is, behind the system prompt where it has
 * none of its own; without one it is the system prompt, the few-shot messages and the `question`. Throws `dataset_unreadable` with the
 * row's number (from 0) where that cannot be done, and for a data set without rows.
 */
export async function* formatExamples(rows: AsyncIterable<JsonObject>, count: number, format: ExampleFormat): AsyncGenerator<RolloutInput> {
  const ids = new ExampleIds();
  let index = 0;
  for await (const row of rows) {
    const input = formatRow(ids.assign(row, index), index, format);
    yield input;
    index++;
    if (count > 0 && index >= count) return;
  }
  if (index === 0) throw new EdgewiseError("dataset_unreadable", "the data set is empty");
}

/** `example_id` is the row's own when the first row has an integer there; else the row's index, the old value moving to `src_id`. */
class ExampleIds {
  #own: boolean | null = null;
  #last = Number.NEGATIVE_INFINITY;

  assign(row: JsonObject, index: number): JsonObject & { example_id: number } {
    const { example_id: given, ...rest } = row;
    this.#own ??= Number.isSafeInteger(given);
    if (!this.#own) return given === undefined ? { ...rest, example_id: index } : { ...rest, src_id: given, example_id: index };
    // Results are kept in the order of the data set and sorted by example_id; only ascending ids make these one order.
    if (typeof given !== "number" || !Number.isSafeInteger(given))
      throw unreadable(index, `example_id must be an integer like in the rows before, it is ${JSON.stringify(given)}`);
    if (given <= this.#last) throw unreadable(index, `example_id must ascend without repeats, ${given} follows ${this.#last}`);
    this.#last = given;
    return { ...rest, example_id: given };
  }
}

function formatRow(row: JsonObject & { example_id: number }, index: number, format: ExampleFormat): RolloutInput {
  const { prompt: _given, task, info, ...rest } = row;
  const input: RolloutInput = {
    ...rest,
    example_id: row.example_id,
    prompt: readPrompt(row, index, format),
    task: typeof task === "string" && task !== "" ? task : format.task,
  };
  if (info !== undefined && info !== null && info !== "") input.info = readInfo(info, index);
  return input;
}

function readPrompt({ prompt, question, example_id: _id, ...others }: JsonObject, index: number, format: ExampleFormat): Message[] {
  const system: Message[] = format.systemPrompt === null || format.systemPrompt === "" ? [] : [{ role: "system", content: format.systemPrompt }];
  if (prompt === undefined || prompt === null) {
    if (typeof question !== "string") throw withoutPrompt(index, Object.keys(others));
    return [...system, ...(format.fewShot.length === 0 ? [] : structuredClone(format.fewShot)), { role: "user", content: question }];
  }
  if (typeof prompt === "string" && system.length > 0)
    throw unreadable(index, "its prompt is a text, and a system prompt can only stand before a list of messages");
  let messages: Message[];
  try {
    messages = normaliseMessages(prompt);
  } catch (thrown) {
    throw unreadable(index, `its prompt cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  return messages[0]?.role === "system" ? messages : [...system, ...messages];
}

function withoutPrompt(index: number, columns: readonly string[]): EdgewiseError {
  const has = columns.length === 0 ? "no other column" : columns.slice(0, 20).join(", ");
  const hint = `If the question has another name, say so: env_args {"dataset_columns": {"question": ${JSON.stringify(columns[0] ?? "NAME")}}}`;
  return unreadable(index, `it has neither a prompt nor a question (it has ${has})`, hint);
}

function readInfo(info: unknown, index: number): JsonObject {
  let value = info;
  if (typeof info === "string") {
    try {
      value = JSON.parse(info);
    } catch {
      throw unreadable(index, "its info is a text that is not JSON");
    }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unreadable(index, "its info is not an object");
  if ("oai_tools" in value) throw unreadable(index, "info.oai_tools is no longer read: give the tools as info.tool_defs");
  return value as JsonObject;
}
