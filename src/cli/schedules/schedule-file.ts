import { ALERT_NAME_RULE, type GivenAlert, isAlertName } from "../../alerts/alert-definition.ts";
import { didYouMean } from "../../config/nearest.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { isTable, type TomlTable } from "../../config/plan/toml-keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { definitionSchema, type GivenDefinition } from "../../schedules/definition-schema.ts";
import { isScheduleName, SCHEDULE_NAME_RULE } from "../../schedules/schedule-name.ts";
import { alertIn } from "../alerts/alert-table.ts";
import { issueLines } from "../command-line/issue-lines.ts";
import { usageError } from "../terminal/cli-error.ts";

/** A table of a file, by its name. */
export interface Wanted<Given> {
  readonly name: string;
  readonly given: Given;
}

export interface WantedFile {
  /** Each `[[schedule]]`: when, and in `[schedule.eval]` a table as `[[eval]]` of a config file. */
  readonly schedules: readonly Wanted<GivenDefinition>[];
  /** Each `[[alert]]`; null = the file says nothing of alerts, which is not that there are to be none. */
  readonly alerts: readonly Wanted<GivenAlert>[] | null;
}

type Read<Given> = (table: TomlTable, refuse: (problem: string) => void) => Given | null;

const TABLES = ["schedule", "alert"];
/** Tables that such files may have beside these, for other commands. */
const OTHERS = ["monitor"];

/** What a file asks for. Throws a usage error with everything that is wrong, each with its table and key. `file`: what errors call it. `env`: variables that hold addresses. */
export function wantedIn(text: string, file: string, env: NodeJS.ProcessEnv): WantedFile {
  const document = parsed(text, file);
  const problems: string[] = [];
  const known = [...TABLES, ...OTHERS];
  for (const key of Object.keys(document)) if (!known.includes(key)) problems.push(`${file}: unknown key ${key}${didYouMean(key, known)}`);
  const tablesOf = <Given>(key: string, isName: (text: string) => boolean, rule: string, read: Read<Given>): readonly Wanted<Given>[] => {
    const { [key]: tables = [] } = document;
    if (!Array.isArray(tables) || !tables.every(isTable)) throw usageError(`${file}: ${key}: must be an array of tables: [[${key}]]`);
    const wanted = (tables as readonly TomlTable[]).flatMap(({ name, ...table }, index) => {
      const place = `${file}: [[${key}]] #${index + 1}`;
      if (typeof name !== "string" || !isName(name)) {
        problems.push(`${place}: name: ${rule}`);
        return [];
      }
      const given = read(table, (problem) => problems.push(`${place} (${name}): ${problem}`));
      return given === null ? [] : [{ name, given }];
    });
    const names = wanted.map(({ name }) => name);
    for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
      problems.push(`${file}: two ${key}s are called ${JSON.stringify(name)}`);
    return wanted;
  };
  const schedules = tablesOf("schedule", isScheduleName, SCHEDULE_NAME_RULE, scheduleIn);
  const alerts = tablesOf("alert", isAlertName, ALERT_NAME_RULE, (table, refuse) => alertIn(table, env, refuse));
  if (problems.length > 0) throw usageError(problems[0] ?? "", ...problems.slice(1));
  return { schedules, alerts: document.alert === undefined ? null : alerts };
}

function parsed(text: string, file: string): TomlTable {
  try {
    return parseTomlText(text, file);
  } catch (error) {
    throw error instanceof EdgewiseError ? usageError(error.message) : error;
  }
}

const KEYS = Object.keys(definitionSchema.shape);

function scheduleIn(table: TomlTable, refuse: (problem: string) => void): GivenDefinition | null {
  const given = plain(table);
  const checked = definitionSchema.safeParse(given);
  if (checked.success) return given as GivenDefinition;
  for (const line of issueLines(checked.error.issues, KEYS)) refuse(line);
  return null;
}

/** With the dates of TOML as the texts that JSON has. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value;
}
