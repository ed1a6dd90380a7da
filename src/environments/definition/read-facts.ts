import { issueText } from "../../config/issue-text.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { EnvironmentFacts } from "./describe.ts";
import { FACTS_SCHEMA } from "./facts-schema.ts";

/** What foreign code says of its environment, if that can be. Throws `environment_failed`; messages go on from `who` (the module). */
export function readFacts(said: unknown, who: string): EnvironmentFacts {
  const facts = FACTS_SCHEMA.safeParse(said);
  if (facts.success) return facts.data as EnvironmentFacts;
  const issues = facts.error.issues.map((issue) => `${issue.path.join(".")} ${issueText(issue)}`).join("; ");
  throw new EdgewiseError("environment_failed", `what ${who} says of its environment cannot be: ${issues.slice(0, 1_000)}`);
}
