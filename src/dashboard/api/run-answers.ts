/** What the HTTP API answers of one run. */
import type { z } from "zod";
import type { fullState } from "../../api/live/live-schemas.ts";
import type { evaluation, link, resumed } from "../../api/response-schemas.ts";
import type { distribution, errorGroups, timeline } from "../../api/summaries/summary-schemas.ts";

/** One run, with all that is known of it. */
export type Evaluation = z.infer<typeof evaluation>;
export type RunState = Evaluation["edgewise"];
/** What a stream of states tells of one run. */
export type FullState = z.infer<typeof fullState>;
export type Distribution = z.infer<typeof distribution>;
export type ErrorGroups = z.infer<typeof errorGroups>;
export type Timeline = z.infer<typeof timeline>;
export type Resumed = z.infer<typeof resumed>;
export type SharedLink = z.infer<typeof link>;
