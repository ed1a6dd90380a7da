/** Command-line flags, derived from the one table of options: names, help, checks. */
import { type Command, Option as CommanderOption } from "commander";
import type { Option } from "../../config/options/option.ts";
import { parseOptionText } from "../../config/options/option-text.ts";
import { type GivenOptions, longFlag, OPTION_NAMES, OPTIONS, type OptionName } from "../../config/options/options.ts";
import { PROVIDER_NAMES } from "../../config/endpoints/providers.ts";
import type { Json } from "../../config/plan/run-config.ts";
import { usageError } from "../terminal/cli-error.ts";

export type { GivenOptions } from "../../config/options/options.ts";

const EXAMPLES: { readonly [Name in OptionName]?: string } = {
  env_args: `-a '{"dataset": "data/test.jsonl"}'`,
  sampling_args: `-S '{"top_p": 0.9, "extra_body": {"top_k": 20}}'`,
  num_examples: "-n 50, or -n -1 for all examples",
  state_columns: "-C turn,parsed_answer",
  api_base_url: "-b https://api.openai.com/v1",
  api_key_var: "-k OPENAI_API_KEY",
  headers: "--header 'OpenAI-Organization: org-1'",
  headers_from_state: "--header-from-state 'X-Example: example_id'",
  estimate: "eval run gsm8k -n 500 --estimate 20",
  env_vars: "--env-var JUDGE_API_KEY --env-var OPENAI_API_KEY=MY_JUDGE_KEY",
  extra_env_kwargs: `-x '{"max_turns": 3}'`,
};

/** The options that are flags. */
const FLAGS = OPTION_NAMES.filter((name) => (OPTIONS[name] as Option).only !== "toml");
/** One letter for two options: a provider's name, or a folder. */
const PROVIDER_OR_FOLDER = "p";

/** Adds the flags of the table to a command: all of them, or those of `names`. */
export function addFlags(command: Command, names: readonly OptionName[] = FLAGS): void {
  for (const name of names) {
    command.addOption(flagOf(name));
    // Behind the other, so that neither has a value where none is typed.
    if ((OPTIONS[name] as Option).negatable) command.addOption(new CommanderOption(offFlag(name), `without ${longFlag(name)} from here on, with -R`));
    if (name === "provider")
      command.addOption(new CommanderOption(`-${PROVIDER_OR_FOLDER} <NAME|DIR>`, "--provider, or --env-dir-path where it names a folder"));
  }
}

/** The options that were typed, under the names of the table. `isFolder`: whether a path is one. Throws usage errors. */
export function givenOptions(command: Command, isFolder: (path: string) => boolean): GivenOptions {
  const typed = command.opts<Record<string, unknown>>();
  const given: Record<string, unknown> = {};
  for (const name of FLAGS) {
    const flag = flagOf(name);
    const value = typed[flag.attributeName()];
    // commander turns `--no-save` into `save: false`, and sets `save: true` where it is absent.
    const present = flag.negate ? value === false : value !== undefined;
    if (present) given[name] = flag.negate ? true : value;
  }
  const either = typed[PROVIDER_OR_FOLDER];
  return { ...providerOrFolder(either, isFolder), ...given } as GivenOptions;
}

function providerOrFolder(value: unknown, isFolder: (path: string) => boolean): GivenOptions {
  if (typeof value !== "string") return {};
  const provider = PROVIDER_NAMES.find((name) => name === value);
  if (provider !== undefined) return { provider };
  if (value.includes("/") || isFolder(value)) return { env_dir_path: value };
  throw usageError(
    `-p: ${JSON.stringify(value)} is no provider and no folder`,
    `Providers: ${PROVIDER_NAMES.join(", ")}. A folder of environments: --env-dir-path`,
  );
}

/** `-n/--num-examples`. */
export const flagName = (name: OptionName): string => {
  const { short }: Option = OPTIONS[name];
  return short === null ? longFlag(name) : `-${short}/${longFlag(name)}`;
};

/** A flag of the table, with its check. */
export function flagOf(name: OptionName): CommanderOption {
  const { short, kind, value, help, default: usual, repeats }: Option = OPTIONS[name];
  const names = `${short === null ? "" : `-${short}, `}${longFlag(name)}`;
  const taken = kind === "switch" ? "" : kind === "optional_path" || kind === "optional_text" ? ` [${value ?? "VALUE"}]` : ` <${value ?? "VALUE"}>`;
  const flag = new CommanderOption(`${names}${taken}`, `${help}${defaultText(kind, usual)}`);
  if (kind === "table") flag.argParser((text: string, before: object | undefined) => ({ ...before, ...(readFlag(name, text) as object) }));
  else if (repeats) flag.argParser((text: string, before: readonly unknown[] = []) => [...before, ...(readFlag(name, text) as readonly unknown[])]);
  else if (kind !== "switch") flag.argParser((text: string) => readFlag(name, text));
  return flag;
}

/** `--no-batch`. */
export const offFlag = (name: OptionName): string => longFlag(name).replace("--", "--no-");

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
