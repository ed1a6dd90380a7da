import type { EnvironmentDefinition } from "../../definition/definition.ts";
import { blimp } from "./blimp.ts";
import { PERPLEXITIES } from "./perplexities.ts";
import { QUESTION_EVALUATIONS } from "./questions.ts";

/** The evaluations by likelihood and by generation that come with the package. They are one family: the code of one is the code of all. */
export const EVALUATIONS: readonly EnvironmentDefinition[] = [blimp, ...QUESTION_EVALUATIONS, ...PERPLEXITIES];
