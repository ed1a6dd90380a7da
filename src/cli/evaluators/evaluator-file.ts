import { EVALUATOR_NAME_RULE, isEvaluatorName } from "../../training/definition.ts";
import { definitionSchema, type GivenDefinition } from "../../training/definition-schema.ts";
import { FileTables, type Wanted } from "../applying/file-tables.ts";
import { issueLines } from "../command-line/issue-lines.ts";
import { usageError } from "../terminal/cli-error.ts";

const KEYS = Object.keys(definitionSchema.shape);

/** Each `[[evaluator]]` of a file. Throws a usage error with everything that is wrong, each with its table and key. `file`: what errors call it. */
export function evaluatorsIn(text: string, file: string): readonly Wanted<GivenDefinition>[] {
  const tables = new FileTables(text, file);
  const wanted = tables.of<GivenDefinition>({
    key: "evaluator",
    isName: isEvaluatorName,
    rule: EVALUATOR_NAME_RULE,
    read: (table, refuse) => {
      const checked = definitionSchema.safeParse(table);
      if (checked.success) return table as unknown as GivenDefinition;
      for (const line of issueLines(checked.error.issues, KEYS)) refuse(line);
      return null;
    },
  });
  tables.check();
  if (wanted === null)
    throw usageError(`${file}: has no [[evaluator]]`, "evaluator = [] says that there are to be none: `apply --prune` deletes those that there are.");
  return wanted;
}
