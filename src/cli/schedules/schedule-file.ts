import { ALERT_NAME_RULE, type GivenAlert, isAlertName } from "../../alerts/alert-definition.ts";
import type { TomlTable } from "../../config/plan/toml-keys.ts";
import { definitionSchema, type GivenDefinition } from "../../schedules/definition-schema.ts";
import { isScheduleName, SCHEDULE_NAME_RULE } from "../../schedules/schedule-name.ts";
import { alertIn } from "../alerts/alert-table.ts";
import { FileTables, type Wanted } from "../applying/file-tables.ts";
import { issueLines } from "../command-line/issue-lines.ts";
import { usageError } from "../terminal/cli-error.ts";

/** Of either kind: null = the file says nothing of them, which is not that there are to be none. */
export interface WantedFile {
  /** Each `[[schedule]]`: when, and in `[schedule.eval]` a table as `[[eval]]` of a config file. */
  readonly schedules: readonly Wanted<GivenDefinition>[] | null;
  /** Each `[[alert]]`. */
  readonly alerts: readonly Wanted<GivenAlert>[] | null;
}

/** What a file asks for. Throws a usage error with everything that is wrong, each with its table and key. `file`: what errors call it. `env`: variables that hold addresses. */
export function wantedIn(text: string, file: string, env: NodeJS.ProcessEnv): WantedFile {
  const tables = new FileTables(text, file);
  const schedules = tables.of({ key: "schedule", isName: isScheduleName, rule: SCHEDULE_NAME_RULE, read: scheduleIn });
  const alerts = tables.of({ key: "alert", isName: isAlertName, rule: ALERT_NAME_RULE, read: (table, refuse) => alertIn(table, env, refuse) });
  tables.check();
  // An empty file, or one for another command, would take away all of them with --prune.
  if (schedules === null && alerts === null)
    throw usageError(
      `${file}: has no [[schedule]] and no [[alert]]`,
      "schedule = [] says that there are to be no schedules, alert = [] no alerts: `apply --prune` deletes those that there are.",
    );
  return { schedules, alerts };
}

const KEYS = Object.keys(definitionSchema.shape);

function scheduleIn(table: TomlTable, refuse: (problem: string) => void): GivenDefinition | null {
  const checked = definitionSchema.safeParse(table);
  if (checked.success) return table as GivenDefinition;
  for (const line of issueLines(checked.error.issues, KEYS)) refuse(line);
  return null;
}
