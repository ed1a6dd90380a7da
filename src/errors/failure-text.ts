import type { Failure } from "./result.ts";

/** Why a run failed, for one who sees nothing else of it: the code, what happened, what to do next. */
export function failureText({ code, message, hint }: Failure, runId: string): string {
  const log = `What came before it is in the log: npx edgewise eval logs ${runId}`;
  // What environment code printed before it broke says more than any advice.
  const next = hint === undefined ? [log] : code === "environment_failed" ? [hint, log] : [hint];
  return [`${code}:`, sentence(message), ...next.map(sentence)].join(" ");
}

const sentence = (text: string): string => {
  const words = text.trim();
  return /[.!?…:)\]]$/.test(words) ? words : `${words}.`;
};
