/** `docs/options.md`, made from the table of options: `node tools/options-page.ts` writes it, a test compares. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Command, type Option as CommanderOption } from "commander";
import { z } from "zod";
import { addFlags, offFlag } from "../src/cli/command-line/flags.ts";
import { alertCommand } from "../src/cli/commands/serving/alert-command.ts";
import { evaluatorCommand } from "../src/cli/commands/serving/evaluator-command.ts";
import { monitorCommand } from "../src/cli/commands/serving/monitor-command.ts";
import { scheduleCommand } from "../src/cli/commands/serving/schedule-command.ts";
import type { Option } from "../src/config/options/option.ts";
import { longFlag, OPTION_NAMES, OPTIONS, type OptionName } from "../src/config/options/options.ts";
import { RESCORE_OPTIONS } from "../src/config/options/rescore-options.ts";
import { TOML_KEYS } from "../src/config/plan/toml-keys.ts";

const HEAD = `# Options

Every setting of an evaluation, with the names it has at each door. This page is made from the table of options by
\`node tools/options-page.ts\`; \`npx edgewise eval run --help\` says the same, and \`GET /api/v1/options\` as JSON.

Places over HTTP are those in the body of \`POST /api/v1/hosted-evaluations\`. Keys of a TOML file may stand at the top, in
\`[[eval]]\`, in \`[[ablation]]\` and, as lists, in \`[ablation.sweep]\`; the environment is \`env_id\`, or \`id\`. An option
without a default is not set, and the model endpoint, the environment or the service decides. Flags that have a say
beside a TOML file are marked with ◊; the others are then named in a warning.
`;

/** The page. */
export function optionsPage(): string {
  const rows = OPTION_NAMES.map((name) => row(name));
  const table = [["option", "TOML", "HTTP", "values", "default", "what it does"], ["---", "---", "---", "---", "---", "---"], ...rows];
  return `${HEAD}\n${tableText(table)}${RESCORE_HEAD}\n${tableText(rescoreTable())}${servingText()}`;
}

const tableText = (table: readonly (readonly string[])[]): string => `${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;

const RESCORE_HEAD = `
## Scoring again

What \`npx edgewise rescore\` takes beside \`--env\` and those options above that say how scores are made ([rescore.md](rescore.md)). Places over HTTP are those in \`rescore\` of the same body.
`;

function rescoreTable(): readonly (readonly string[])[] {
  const rows = Object.entries(RESCORE_OPTIONS).map(([name, { value, help }]) => {
    const flag = `--${name.replaceAll("_", "-")}${value === null ? "" : ` ${value}`}`;
    return [codes([flag]), codes([`rescore.${name}`]), help].map((cell) => cell.replaceAll("|", "\\|"));
  });
  return [["option", "HTTP", "what it does"], ["---", "---", "---"], ...rows];
}

const SERVING_HEAD = `
## Schedules, alerts, monitors and evaluators

Commands about what a service does by itself ([schedules.md](schedules.md), [alerts.md](alerts.md), [monitors.md](monitors.md), [evaluators.md](evaluators.md)); what their files and requests may say
stands there. \`schedule add\` takes the options above that say what is evaluated too.
`;

/** Read off the commands themselves, which are not run. */
function servingText(): string {
  const commands = [scheduleCommand, alertCommand, monitorCommand, evaluatorCommand].map((make) => make(undefined as never, () => undefined));
  const leaves = commands.flatMap((command) => leavesOf(command, command.name()));
  const named = leaves.map(({ name, command }) => [
    codes([[name, ...command.registeredArguments.map((argument) => argument.name().toUpperCase())].join(" ")]),
    command.description(),
  ]);
  const flags = new Map<string, { readonly option: CommanderOption; readonly names: readonly string[] }>();
  for (const { name, command } of leaves)
    for (const option of command.options.filter((each) => !OF_TABLE.has(keyOf(each))))
      flags.set(keyOf(option), { option, names: [...(flags.get(keyOf(option))?.names ?? []), name] });
  const rows = [...flags.values()].map(({ option, names }) => {
    const { argChoices, defaultValue, mandatory, description, required } = option;
    const others = leaves.map(({ name }) => name).filter((name) => !names.includes(name));
    const where = others.length > names.length ? codes(names) : `all${others.length === 0 ? "" : ` but ${codes(others)}`}`;
    const taken = argChoices === undefined ? (required ? "" : "yes or no") : codes(argChoices);
    const usual = mandatory ? "must be given" : defaultValue === undefined ? "" : codes([JSON.stringify(defaultValue)]);
    return [codes([flagsOf(option)]), where, taken, usual, description];
  });
  const written = (...table: readonly (readonly string[])[]): string => tableText(table.map((cells) => cells.map(cell)));
  const ofCommands = written(["command", "what it does"], ["---", "---"], ...named);
  return `${SERVING_HEAD}\n${ofCommands}\n${written(["option", "of", "values", "default", "what it does"], ["---", "---", "---", "---", "---"], ...rows)}`;
}

const leavesOf = (command: Command, name: string): readonly { readonly name: string; readonly command: Command }[] =>
  command.commands.length === 0 ? [{ name, command }] : command.commands.flatMap((each) => leavesOf(each, `${name} ${each.name()}`));

/** The same flag may be something else at another command. */
const keyOf = ({ flags, description }: CommanderOption): string => `${flags} ${description}`;

/** Flags that stand in the table of options. */
const ALL = new Command();
addFlags(ALL);
const OF_TABLE: ReadonlySet<string> = new Set(ALL.options.map(keyOf));

const flagsOf = ({ flags }: CommanderOption): string => flags.replaceAll(/[<>]/g, "");
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "\\<");

function row(name: OptionName): readonly string[] {
  const { short, only, http, help, value, besideToml, negatable, default: usual }: Option = OPTIONS[name];
  const letter = name === "provider" || name === "env_dir_path" ? "p" : short;
  const flags =
    only === "toml"
      ? []
      : [...(letter === null ? [] : [`-${letter}`]), `${longFlag(name)}${value === null ? "" : ` ${value}`}`, ...(negatable ? [offFlag(name)] : [])];
  const keys = [...TOML_KEYS].flatMap(([key, { option }]) => (option === name ? [key] : []));
  return [
    `${codes(flags)}${besideToml ? " ◊" : ""}`,
    codes(keys),
    http === null ? "" : codes([http[0] === "body" ? http[1] : http.join(".")]),
    values(OPTIONS[name]),
    usual === undefined || isEmpty(usual) ? "" : codes([JSON.stringify(usual)]),
    help,
  ].map(cell);
}

const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
const isEmpty = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

const KINDS: Readonly<Record<Option["kind"], string>> = {
  text: "text",
  integer: "whole number",
  number: "number",
  json: "JSON object",
  list: "list of texts",
  table: "`NAME: VALUE`, table",
  path: "path",
  optional_path: "path, or nothing",
  optional_text: "text, or nothing",
  switch: "yes or no",
};

/** What the option takes, with its bounds. */
function values({ kind, schema }: Option): string {
  const { minimum, exclusiveMinimum, maximum, enum: choices, type } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  if (choices !== undefined) return codes(choices.map(String));
  if (kind === "json" && type === "array") return "list of tables";
  if (kind !== "integer" && kind !== "number") return KINDS[kind];
  const least = minimum === undefined ? (exclusiveMinimum === undefined ? "" : `more than ${exclusiveMinimum}`) : `from ${minimum}`;
  return `${KINDS[kind]}${least === "" ? "" : ` ${least}`}${maximum === undefined ? "" : ` to ${maximum}`}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(new URL("../docs/options.md", import.meta.url), optionsPage());
