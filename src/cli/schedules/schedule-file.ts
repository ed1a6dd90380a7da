import { issueText } from "../../config/issue-text.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { isTable, type TomlTable } from "../../config/plan/toml-keys.ts";
import { didYouMean } from "../../config/nearest.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { definitionSchema, type GivenDefinition } from "../../schedules/definition-schema.ts";
import { isScheduleName, SCHEDULE_NAME_RULE } from "../../schedules/schedule-name.ts";
import { usageError } from "../terminal/cli-error.ts";

/** A `[[schedule]]` of a file: a name, when, and in `[schedule.eval]` a table as `[[eval]]` of a config file. */
export interface WantedSchedule {
  readonly name: string;
  readonly given: GivenDefinition;
}

/** Tables that files of schedules may have beside these, for other commands. */
const OTHERS = ["alert", "monitor"];

/** The schedules of a file. Throws a usage error with everything that is wrong, each with its table and key. `file`: what errors call it. */
export function schedulesIn(text: string, file: string): readonly WantedSchedule[] {
  const document = parsed(text, file);
  const problems: string[] = [];
  for (const key of Object.keys(document))
    if (key !== "schedule" && !OTHERS.includes(key)) problems.push(`${file}: unknown key ${key}${didYouMean(key, ["schedule", ...OTHERS])}`);
  const { schedule = [] } = document;
  if (!Array.isArray(schedule) || !schedule.every(isTable)) throw usageError(`${file}: schedule: must be an array of tables: [[schedule]]`);
  const wanted = (schedule as readonly TomlTable[]).flatMap((table, index) => wantedOf(table, `${file}: [[schedule]] #${index + 1}`, problems));
  const names = wanted.map(({ name }) => name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
    problems.push(`${file}: two schedules are called ${JSON.stringify(name)}`);
  if (problems.length > 0) throw usageError(problems[0] ?? "", ...problems.slice(1));
  return wanted;
}

function parsed(text: string, file: string): TomlTable {
  try {
    return parseTomlText(text, file);
  } catch (error) {
    throw error instanceof EdgewiseError ? usageError(error.message) : error;
  }
}

function wantedOf({ name, ...table }: TomlTable, place: string, problems: string[]): readonly WantedSchedule[] {
  if (typeof name !== "string" || !isScheduleName(name)) {
    problems.push(`${place}: name: ${SCHEDULE_NAME_RULE}`);
    return [];
  }
  const checked = definitionSchema.safeParse(plain(table));
  if (checked.success) return [{ name, given: plain(table) as GivenDefinition }];
  for (const issue of checked.error.issues) {
    if (issue.code === "unrecognized_keys") problems.push(...issue.keys.map((key) => `${place} (${name}): unknown key ${key}${didYouMean(key, KEYS)}`));
    else problems.push(`${place} (${name}): ${issue.path.join(".")}: ${issueText(issue)}`);
  }
  return [];
}

const KEYS = Object.keys(definitionSchema.shape);

/** With the dates of TOML as the texts that JSON has. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value;
}
