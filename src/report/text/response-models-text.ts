import type { ResponseModel, ResponseModels } from "../../metrics/response-models.ts";
import { thousands } from "./format.ts";
import { singleLine } from "./printable.ts";

/** One model as answers name it, with the configuration that ran it. */
export const responseModelText = ({ model, system_fingerprint }: Omit<ResponseModel, "answers">): string =>
  singleLine(`${model === "" ? "no name" : model}${system_fingerprint === null ? "" : ` (${system_fingerprint})`}`);

/** What answers said of the model that gave them; null where they said nothing. */
export function responseModelsText({ seen, other_answers = 0 }: ResponseModels = { seen: [] }): string | null {
  const [first] = seen;
  if (first === undefined) return null;
  if (!severalAnswered({ seen, other_answers })) return responseModelText(first);
  const parts = seen.map((each) => `${responseModelText(each)} ${answersText(each.answers)}`);
  return [...parts, ...(other_answers === 0 ? [] : [`others ${answersText(other_answers)}`])].join(", ");
}

export const severalAnswered = ({ seen, other_answers = 0 }: ResponseModels = { seen: [] }): boolean => seen.length + other_answers > 1;

/** For a report: null where but one model, of one configuration, answered. */
export const severalModelsText = (models: ResponseModels | undefined): string | null => (severalAnswered(models) ? responseModelsText(models) : null);

const answersText = (answers: number): string => (answers === 1 ? "1 answer" : `${thousands(answers)} answers`);
