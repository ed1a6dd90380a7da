import { z } from "zod";
import { option } from "./option.ts";
import { NO_STOP_RULE, parseStopRule, STOP_RULE_FORMS } from "./stop-rule.ts";

function problemOf(text: string): string | null {
  if (text.trim() === NO_STOP_RULE) return null;
  try {
    parseStopRule(text);
    return null;
  } catch (thrown) {
    if (thrown instanceof RangeError) return thrown.message;
    throw thrown;
  }
}

const stopRule = z
  .string()
  .max(128)
  .superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  });

/** When a run has seen enough. */
export const STOPPING_OPTIONS = {
  stop_when: option({
    kind: "text",
    schema: stopRule,
    default: undefined,
    http: ["eval_config", "stop_when"],
    resume: true,
    value: "RULE",
    help: `end the run once it is known well enough, looking after every example (docs/stopping.md): ${STOP_RULE_FORMS}, where BASELINE is the id or the name of a run of the same data; \`${NO_STOP_RULE}\` when resuming = play the other examples too`,
  }),
  stop_alpha: option({
    kind: "number",
    schema: z.number().gt(0, "must be more than 0").max(0.5),
    default: 0.05,
    http: ["eval_config", "stop_alpha"],
    value: "X",
    help: "with --stop-when: chance that what it finds is not so, over all looks together",
  }),
} as const;
