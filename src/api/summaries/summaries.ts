import { distribution } from "./distribution.ts";
import { errorGroups } from "./error-groups.ts";
import { timeline } from "./timeline.ts";

/** What is said of the rows of one run as a whole, and of how it came to them. */
export const summaries = [distribution, errorGroups, timeline] as const;
