import type { JsonObject } from "../../config/plan/run-config.ts";
import type { PromptToken, ScoringRoute, Usage } from "../../rollouts/types.ts";

/**
 * Sends one request through everything that a request goes through (permit, retries, pauses, deadline), and gives the JSON of its
 * answer. `path`: as `ScoringDriver.below` says. `body` is asked for when the first attempt holds its permit.
 */
export type Post = (path: string, body: () => JsonObject) => Promise<unknown>;

export interface ScoringJob {
  readonly model: string;
  readonly top: number;
  /** Known for certain when they are first asked for: until then more may join. */
  readonly texts: () => readonly string[];
}

/** What a server said of one text, checked and placed. */
export interface ScoredText {
  readonly tokens: PromptToken[];
}

export interface ScoredTexts {
  /** In the order of the texts. */
  readonly scores: readonly ScoredText[];
  /** Of all of them. */
  readonly usage: Usage | null;
}

/** One way to have a server score texts. Throws `RequestFailed` (`invalid_response`) for an answer that is none. */
export interface ScoringDriver {
  readonly route: ScoringRoute;
  /** What it asks a server for, in words for a person. */
  readonly asks: string;
  /** Whether the route takes several texts in a request at all; that a server does is found out. */
  readonly takesSeveral: boolean;
  /** What its paths stand below: the base URL of the API, or the root of the server that it is on. */
  readonly below: "api" | "server";
  score(post: Post, job: ScoringJob): Promise<ScoredTexts>;
}
