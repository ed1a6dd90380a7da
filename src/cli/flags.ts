/** Command-line flags, derived from the one table of options: names, help, checks. */
import { type Command, Option as CommanderOption } from "commander";
import type { Option } from "../config/option.ts";
import { parseOptionText } from "../config/option-text.ts";
import { longFlag, OPTION_NAMES, OPTIONS, type GivenOptions, type OptionName } from "../config/options.ts";
import type { Json } from "../config/run-config.ts";
import { usageError } from "./cli-error.ts";

export type { GivenOptions } from "../config/options.ts";

const EXAMPLES: { readonly [Name in OptionName]?: string } = {
  env_args: `-a '{"dataset": "data/test.jsonl"}'`,
  sampling_args: `-S '{"top_p": 0.9, "extra_body": {"top_k": 20}}'`,
  num_examples: "-n 50, or -n -1 for all examples",
  state_columns: "-C turn,parsed_answer",
  api_base_url: "-b https://api.openai.com/v1",
  api_key_var: "-k OPENAI_API_KEY",
  headers: "--header 'OpenAI-Organization: org-1'",
  headers_from_state: "--header-from-state 'X-Example: example_id'",
  extra_env_kwargs: `-x '{"max_turns": 3}'`,
};

/** Adds every option of the table to a command. */
export function addFlags(command: Command): void {
  for (const name of OPTION_NAMES) command.addOption(flagOf(name));
}

/** The options that were typed, under the names of the table. */
export function givenOptions(command: Command): GivenOptions {
  const typed = command.opts<Record<string, unknown>>();
  const given: Record<string, unknown> = {};
  for (const name of OPTION_NAMES) {
    const flag = flagOf(name);
    const value = typed[flag.attributeName()];
    // commander turns `--no-save` into `save: false`, and sets `save: true` where it is absent.
    if (flag.negate ? value === false : value !== undefined) given[name] = flag.negate ? true : value;
  }
  return given as GivenOptions;
}

/** `-n/--num-examples`. */
export const flagName = (name: OptionName): string => {
  const { short }: Option = OPTIONS[name];
  return short === null ? longFlag(name) : `-${short}/${longFlag(name)}`;
};

function flagOf(name: OptionName): CommanderOption {
  const { short, kind, value, help, default: usual }: Option = OPTIONS[name];
  const names = `${short === null ? "" : `-${short}, `}${longFlag(name)}`;
  const taken = kind === "switch" ? "" : kind === "optional_path" ? ` [${value ?? "VALUE"}]` : ` <${value ?? "VALUE"}>`;
  const flag = new CommanderOption(`${names}${taken}`, `${help}${defaultText(kind, usual)}`);
  if (kind === "table") flag.argParser((text: string, before: object | undefined) => ({ ...before, ...(readFlag(name, text) as object) }));
  else if (kind !== "switch") flag.argParser((text: string) => readFlag(name, text));
  return flag;
}

function defaultText(kind: Option["kind"], usual: Json | undefined): string {
  if (usual === undefined || kind === "switch") return "";
  const empty = typeof usual === "object" && usual !== null && Object.keys(usual).length === 0;
  return empty ? "" : ` (default: ${typeof usual === "string" ? usual : JSON.stringify(usual)})`;
}

function readFlag(name: OptionName, text: string): unknown {
  const parsed = parseOptionText(name, text);
  if (parsed.ok) return parsed.value;
  const example = EXAMPLES[name];
  throw usageError(`${flagName(name)}: ${parsed.msg}`, ...(example === undefined ? [] : [`Example: ${example}`]));
}
