import { printable } from "../../report/text/printable.ts";
import type { ErrorAnswer } from "./answers.ts";

/** Why something could not be had, as a page shows it. */
export interface Problem {
  /** `signed-out`: the browser has to sign in again; `unreachable`: nobody answered; `refused`: the service said no; `broken`: what it said makes no sense. */
  readonly kind: "signed-out" | "unreachable" | "refused" | "broken";
  readonly text: string;
  readonly hint: string | null;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** The code of the service's error, for programs; null where it gave none. */
  readonly code: string | null;
  /** The fields of a request that are wrong, each by its path from `body`; absent where it is none of them. */
  readonly issues?: readonly FieldIssue[];
}

export interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

export const UNREACHABLE: Problem = {
  kind: "unreachable",
  text: "The service does not answer.",
  hint: "Is it running, and is the network there?",
  status: 0,
  code: null,
};

/** Whether the same may go well a little later. */
export const isPassing = ({ kind, status }: Problem): boolean => kind === "unreachable" || status === 429 || status >= 500;

/** The refusal that an answer carries, without what acts on a text: it may quote a row, a name or an endpoint. `body`: its text. */
export function problemOf(status: number, body: string): Problem {
  const answer = readAnswer(body);
  if (answer === null) return { kind: "broken", text: `The service answered ${status}, and no error of its own.`, hint: null, status, code: null };
  const { detail, code, hint = null } = answer;
  const text = printable(typeof detail === "string" ? detail : detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; "));
  return {
    kind: status === 401 ? "signed-out" : "refused",
    text,
    hint: hint === null ? null : printable(hint),
    status,
    code,
    ...(typeof detail === "string" ? {} : { issues: detail.map(({ loc, msg }) => ({ loc, msg: printable(msg) })) }),
  };
}

function readAnswer(body: string): ErrorAnswer | null {
  try {
    const answer = JSON.parse(body) as Partial<ErrorAnswer> | null;
    return answer?.detail !== undefined && answer.code !== undefined ? (answer as ErrorAnswer) : null;
  } catch {
    return null;
  }
}
