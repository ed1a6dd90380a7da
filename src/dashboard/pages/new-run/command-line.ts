import { printableJson } from "../../../report/text/printable.ts";
import { isSayable, quoted } from "../../../report/text/shell-word.ts";
import { type Draft, referenceOf } from "./draft.ts";
import type { GivenOption, Settings } from "./settings.ts";

/** The same run as a command of a terminal. */
export interface CommandLine {
  readonly text: string;
  /** What no flag can say: the command makes another run without it. */
  readonly unsaid: readonly string[];
}

/** `origin`: of the service, without a slash at its end. */
export function commandLine(draft: Draft, { env_args, sampling_args, model, options }: Settings, origin: string): CommandLine {
  const unsaid: string[] = [];
  const say = (name: string, words: readonly string[] | null): readonly string[] => {
    if (words === null) unsaid.push(name);
    return words ?? [];
  };
  const words = [
    ...say("environment", isArgument(referenceOf(draft)) && !draft.environment.endsWith(".toml") ? [quoted(referenceOf(draft))] : null),
    ...say("model", flagWords("-m", "--model", model)),
    ...(draft.place.kind === "provider" ? ["--provider", quoted(draft.place.name)] : []),
    ...(draft.place.kind === "replicas" ? say("replicas", null) : []),
    ...(Object.keys(env_args).length === 0 ? [] : ["-a", quoted(printableJson(env_args))]),
    ...(Object.keys(sampling_args).length === 0 ? [] : ["-S", quoted(printableJson(sampling_args))]),
    ...options.flatMap((given) => say(given.field.name, optionWords(given))),
  ];
  return { text: `EDGEWISE_URL=${quoted(origin)} npx edgewise eval run ${words.join(" ")} --hosted`, unsaid };
}

/** Null: no flag says it. */
function optionWords({ field: { option }, value }: GivenOption): readonly string[] | null {
  const { flag, short, kind } = option;
  if (flag === null) return null;
  const one = (text: string | null): readonly string[] | null => (text === null ? null : flagWords(short, flag, text));
  switch (kind) {
    case "switch":
      return value === true ? [flag] : null;
    case "integer":
    case "number":
      return one(typeof value === "number" ? String(value) : null);
    case "json":
      return one(printableJson(value));
    case "list":
      return one(isTexts(value) && value.every(isListItem) ? value.join(",") : null);
    case "table": {
      const all = isTexts(value) ? value.map((line) => flagWords(short, flag, line)) : [null];
      return all.some((each) => each === null) ? null : all.flatMap((each) => each ?? []);
    }
    default:
      return one(typeof value === "string" ? value : null);
  }
}

/** A value that begins with a dash belongs to its flag by a sign of equality. */
function flagWords(short: string | null, long: string, text: string): readonly string[] | null {
  if (!isSayable(text)) return null;
  return text.startsWith("-") ? [quoted(`${long}=${text}`)] : [short ?? long, quoted(text)];
}

/** One that begins with a dash would be a flag. */
const isArgument = (text: string): boolean => isSayable(text) && !text.startsWith("-");

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((each) => typeof each === "string");
const isListItem = (text: string): boolean => text !== "" && text === text.trim() && !text.includes(",");
