import type { JsonObject } from "../../config/plan/run-config.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { fieldsOf, type Fields, isFields, listOf, numberOf, textOf } from "./episode.ts";

/** What the settings beside a `traces.jsonl` say of its run; null where they do not. */
export interface TraceSettings {
  readonly env_id: string | null;
  readonly model: string | null;
  readonly name: string | null;
  readonly base_url: string | null;
  readonly num_examples: number | null;
  readonly rollouts_per_example: number | null;
  readonly sampling_args: JsonObject;
  readonly env_args: JsonObject;
}

/** Files of a run folder that hold them, below it, the newest generation first: all of 0.4, and of 0.2 to 0.3. */
export const SETTINGS_FILES = ["configs/resolved/eval.json", "config.toml"] as const;

/** Reads one of those files. Throws a `SyntaxError` or `invalid_request` for what is no JSON object, or no TOML. */
export function readTraceSettings(file: (typeof SETTINGS_FILES)[number], text: string): TraceSettings {
  const value: unknown = file.endsWith(".json") ? JSON.parse(text) : parseTomlText(text, file);
  if (!isFields(value)) throw new SyntaxError(`${file} is no object`);
  return settingsOf(value);
}

/** Both generations have the same tables; the older one has some of them at the top. */
export function settingsOf(value: Fields): TraceSettings {
  const env = fieldsOf(value.env);
  const taskset = isFields(env.taskset) ? env.taskset : fieldsOf(value.taskset);
  const { id, ...args } = taskset;
  const sampling = isFields(value.sampling) ? value.sampling : fieldsOf(value.sampling_args);
  return {
    env_id: textOf(id) ?? textOf(env.id) ?? textOf(value.env_id) ?? textOf(value.id),
    model: textOf(value.model),
    name: textOf(fieldsOf(value.run).name),
    base_url: textOf(fieldsOf(value.client).base_url),
    num_examples: numberOf(fieldsOf(value.select).num_tasks) ?? numberOf(value.num_tasks) ?? numberOf(value.num_examples),
    rollouts_per_example: numberOf(value.num_rollouts) ?? numberOf(value.rollouts_per_example),
    sampling_args: present(sampling),
    env_args: present(args),
  };
}

/** The same of an episode of it, for folders whose settings are gone. */
export function settingsOfEpisode(episode: Fields): Pick<TraceSettings, "env_id" | "model" | "name"> {
  const trace = listOf(episode.traces)[0] ?? episode;
  const { config } = fieldsOf(trace.agent);
  const call = listOf(trace.calls)[0];
  return {
    env_id: textOf(fieldsOf(episode.env).id),
    model: textOf(fieldsOf(config).model) ?? textOf(call?.model),
    name: textOf(fieldsOf(episode.run).name),
  };
}

const present = (fields: Fields): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as JsonObject;
