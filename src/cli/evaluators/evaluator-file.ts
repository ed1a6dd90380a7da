import { readFileSync } from "node:fs";
import { issueText } from "../../config/issue-text.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { isTable, type TomlTable } from "../../config/plan/toml-keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { EVALUATOR_NAME_RULE, isEvaluatorName } from "../../training/definition.ts";
import { definitionSchema, type GivenDefinition } from "../../training/definition-schema.ts";
import { reasonOf, usageError } from "../terminal/cli-error.ts";

/** A `[[evaluator]]` of a file: a name, and what `PUT /evaluators/{name}` takes. */
export interface WantedEvaluator {
  readonly name: string;
  readonly given: GivenDefinition;
}

/** Throws a usage error for a file that cannot be read. `file`: as it was typed. */
export function textOf(path: string, file: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`the file ${file} cannot be read: ${reasonOf(error)}`);
  }
}

/** The evaluators of a file. Throws a usage error with everything that is wrong, each with its table and key. `file`: what errors call it. */
export function evaluatorsIn(text: string, file: string): readonly WantedEvaluator[] {
  const { evaluator = [], ...others } = parsed(text, file);
  const problems = Object.keys(others).map((key) => `${file}: unknown key ${key}: it has [[evaluator]] tables`);
  if (!Array.isArray(evaluator) || !evaluator.every(isTable)) throw usageError(`${file}: evaluator: must be an array of tables: [[evaluator]]`);
  const wanted = (evaluator as readonly TomlTable[]).flatMap((table, index) => wantedOf(table, `${file}: [[evaluator]] #${index + 1}`, problems));
  const names = wanted.map(({ name }) => name);
  for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
    problems.push(`${file}: two evaluators are called ${JSON.stringify(name)}`);
  if (problems.length === 0 && wanted.length === 0) problems.push(`${file}: has no [[evaluator]]`);
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

function wantedOf({ name, ...table }: TomlTable, place: string, problems: string[]): readonly WantedEvaluator[] {
  if (typeof name !== "string" || !isEvaluatorName(name)) {
    problems.push(`${place}: name: ${EVALUATOR_NAME_RULE}`);
    return [];
  }
  const checked = definitionSchema.safeParse(table);
  if (checked.success) return [{ name, given: table as unknown as GivenDefinition }];
  for (const issue of checked.error.issues) {
    const at = issue.path.join(".");
    if (issue.code === "unrecognized_keys") problems.push(...issue.keys.map((key) => `${place} (${name}): unknown key ${at === "" ? "" : `${at}.`}${key}`));
    else problems.push(`${place} (${name}): ${at}: ${issueText(issue)}`);
  }
  return [];
}
