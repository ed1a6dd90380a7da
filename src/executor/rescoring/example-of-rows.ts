import { canonicalJson } from "../../config/canonical-json.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { contentHash } from "../../metrics/comparison/example-content.ts";
import { rowMessages } from "../../rollouts/messages.ts";
import { readMessages } from "../../rollouts/rows/output.ts";
import { objectText, type RawField, rawFields } from "../../rollouts/rows/raw-fields.ts";
import { isEmptyField } from "../../rollouts/rows/row.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { AdoptedExample } from "../preparation/folder-rows.ts";
import { sourceMismatch } from "./source-rows.ts";

/** The example as its rows hold it: what of it they lack is lacking. `task`: of rows that name none. Throws `source_mismatch`. */
export function exampleInRows({ id, rows }: AdoptedExample, task: string): RolloutInput {
  const [first] = rows.values();
  const { prompt, answer, info, task: own } = first?.value ?? {};
  const messages = promptOf(id, prompt);
  if (messages === null) throw sourceMismatch(`The rows of example ${id} have no prompt: nobody can tell what was asked.`);
  const asked = contentHash({ prompt: rowMessages(messages) as Json });
  for (const { value } of rows.values())
    if (value.prompt !== null && value.prompt !== undefined && contentHash({ prompt: rowsPrompt(id, value.prompt) }) !== asked)
      throw sourceMismatch(`The rows of example ${id} have different prompts: they are no attempts at one thing.`);
  return {
    example_id: id,
    prompt: messages,
    task: typeof own === "string" ? own : task,
    ...(answer === undefined ? {} : { answer }),
    ...(info === undefined ? {} : { info: info as JsonObject }),
  };
}

/** Refuses rows that ask something else than the example of the data that they would be scored by. */
export function checkPrompts({ id, rows }: AdoptedExample, input: RolloutInput): void {
  const asked = contentHash({ prompt: rowMessages(input.prompt) as Json });
  // A row that was too large was written without it.
  for (const { value } of rows.values())
    if (value.prompt !== null && value.prompt !== undefined && contentHash({ prompt: rowsPrompt(id, value.prompt) }) !== asked)
      throw sourceMismatch(
        `The rows of example ${id} have another prompt than example ${id} of the data set: they would be scored by another example's answer.`,
        ROWS_INSTEAD,
      );
}

export const ROWS_INSTEAD = "Name the arguments that the data set was made with (-a), or score by what the rows themselves hold: --examples rows.";

const promptOf = (id: number, prompt: unknown) => {
  try {
    return readMessages(prompt, "prompt");
  } catch (thrown) {
    throw sourceMismatch(`A row of example ${id} cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}.`);
  }
};
const rowsPrompt = (id: number, prompt: unknown): Json => rowMessages(promptOf(id, prompt) ?? []) as Json;

/** The line with answer and info as the example has them now: a row shows what its score is by. Where they are the same every byte stays. */
export function lineOfExample(line: string, row: JsonObject, input: RolloutInput): string {
  const changed = (["answer", "info"] as const).filter((name) => canonicalJson(shown(row[name])) !== canonicalJson(shown(input[name])));
  if (changed.length === 0) return line;
  const fields: RawField[] = [];
  for (const [name, text] of rawFields(line)) {
    if (changed.some((each) => each === name)) continue;
    fields.push([name, text]);
    if (name !== "completion") continue;
    for (const each of changed) if (!isEmptyField(input[each])) fields.push([each, JSON.stringify(input[each])]);
  }
  return objectText(fields, line);
}

const shown = (value: Json | undefined): Json => (value === undefined || isEmptyField(value) ? null : value);
