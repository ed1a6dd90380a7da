import { distribution } from "./distribution.ts";
import { errorGroups } from "./error-groups.ts";

/** What is said of the rows of one run as a whole. */
export const summaries = [distribution, errorGroups] as const;
