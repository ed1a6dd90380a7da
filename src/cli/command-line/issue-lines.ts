import type { z } from "zod";
import { issueText } from "../../config/issue-text.ts";
import { didYouMean } from "../../config/nearest.ts";

/** What is wrong with a table of a file, each by its key. `keys`: those that it may have. */
export const issueLines = (issues: readonly z.core.$ZodIssue[], keys: readonly string[]): readonly string[] =>
  issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => `unknown key ${[...issue.path, key].join(".")}${issue.path.length === 0 ? didYouMean(key, keys) : ""}`)
      : [`${issue.path.join(".")}: ${issueText(issue)}`],
  );
