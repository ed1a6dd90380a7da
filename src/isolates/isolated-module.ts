import type { OfferedFacts } from "../environments/definition/offered.ts";

/** The code of an environment as the text of a module, which imports the library from `./lib/`. */
export interface CodeText {
  readonly text: string;
  /** Source map as JSON; "" where there is none. */
  readonly map: string;
}

/** An environment whose code is not its Worker's: what it said of itself, and what gives its code to an isolate. */
export interface IsolatedModule {
  /** `source` is the sha256 of the code in hex. */
  readonly facts: OfferedFacts;
  /** Called when a run names it, and not before. May reject with an error that may pass. */
  readonly code: () => Promise<CodeText>;
}
