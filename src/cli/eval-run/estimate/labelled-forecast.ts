import type { ForecastEvaluation } from "../../connection/api-types.ts";

/** What one evaluation of a command will take. */
export interface LabelledForecast {
  readonly label: string;
  readonly answer: ForecastEvaluation;
  /** It is from the first examples of the run itself. */
  readonly own: boolean;
  /** Dollars that the run may spend of its own budget; null = it has none. */
  readonly maxCost: number | null;
}
