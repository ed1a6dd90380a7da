import type { SteeredSettings } from "../../../src/config/plan/steered.ts";

/** What is done to a run that works, or is paused. */
export type SteerRequest = { readonly kind: "pause" | "continue" } | { readonly kind: "set"; readonly settings: SteeredSettings };
