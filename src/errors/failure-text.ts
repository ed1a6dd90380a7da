import type { Failure } from "./result.ts";

/** Why a run failed, for one who sees nothing else of it: the code, what happened, what to do next. */
export function failureText({ code, message, hint }: Failure, runId: string): string {
  return `${code}: ${sentence(message)} ${sentence(hint ?? `What came before it is in the log: npx edgewise eval logs ${runId}`)}`;
}

const sentence = (text: string): string => {
  const words = text.trim();
  return /[.!?…:)\]]$/.test(words) ? words : `${words}.`;
};
