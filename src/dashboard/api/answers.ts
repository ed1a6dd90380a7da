/** What the HTTP API answers, from the schemas that its OpenAPI document is made of. */
import type { z } from "zod";
import type { previews, rolloutMessages, rolloutOutline, searchLine } from "../../api/cells/cell-schemas.ts";
import type { comparedExamplesAnswer, comparisonAnswer } from "../../api/comparisons/comparison-schemas.ts";
import type { linkList, linkStatus } from "../../api/links/link-schemas.ts";
import type { optionList } from "../../api/options/option-operations.ts";
import type { argumentFacts, environment, environmentList, environmentVersions } from "../../api/published/published-schemas.ts";
import type { endpointList, modelList } from "../../api/endpoints/endpoint-schemas.ts";
import type { forecastAnswer } from "../../api/forecasts/forecast-schemas.ts";
import type { created, errorBody } from "../../api/response-schemas.ts";
import type { secretList } from "../../api/secrets/secret-schemas.ts";
import type { evaluationList } from "../../api/runs/list-schemas.ts";

export type ErrorAnswer = z.infer<typeof errorBody>;
export type EvaluationList = z.infer<typeof evaluationList>;
/** A run as lists have it. */
export type ListedEvaluation = EvaluationList["evaluations"][number];
export type Comparison = z.infer<typeof comparisonAnswer>;
/** Of one run with the baseline. */
export type RunComparison = Comparison["comparisons"][number];
export type ComparedExamples = z.infer<typeof comparedExamplesAnswer>;
/** An example in one of the runs. */
export type ExampleCell = NonNullable<ComparedExamples["examples"][number][number]>;
export type EnvironmentList = z.infer<typeof environmentList>;
export type ListedEnvironment = EnvironmentList["data"][number];
export type DescribedEnvironment = z.infer<typeof environment>;
export type EnvironmentVersions = z.infer<typeof environmentVersions>;
export type ArgumentFacts = z.infer<typeof argumentFacts>;
export type LinkList = z.infer<typeof linkList>;
export type LinkStatus = z.infer<typeof linkStatus>;
export type OptionList = z.infer<typeof optionList>;
/** A setting of an evaluation. */
export type ListedOption = OptionList["options"][number];
export type Previews = z.infer<typeof previews>;
export type SearchLine = z.infer<typeof searchLine>;
/** One rollout without what is long in it. */
export type RolloutOutline = z.infer<typeof rolloutOutline>;
export type RolloutMessages = z.infer<typeof rolloutMessages>;
export type Created = z.infer<typeof created>;
export type ModelList = z.infer<typeof modelList>;
export type EndpointList = z.infer<typeof endpointList>;
export type SecretList = z.infer<typeof secretList>;
export type ForecastAnswer = z.infer<typeof forecastAnswer>;
