import { DurableObject } from "cloudflare:workers";
import { MOST_TOLD, type Occurrence, occurrenceSchema } from "../../src/alerts/occurrence.ts";
import type { Env } from "../../src/env.ts";
import { fail, ok, type Result } from "../../src/errors/result.ts";
import type { AlertBookControl } from "./alert-book-control.ts";

/** The alerts of one team: who wants to be told what, and what was told them. */
export class AlertBook extends DurableObject<Env> implements AlertBookControl {
  async take({ occurrences }: { readonly team: string; readonly occurrences: readonly Occurrence[] }): Promise<Result<{ readonly asked: boolean }>> {
    const problem = tellingProblem(occurrences);
    if (problem !== null) return fail("invalid_request", problem);
    return ok({ asked: false });
  }
}

/** Why these cannot be taken; null when they can. */
function tellingProblem(occurrences: readonly Occurrence[]): string | null {
  if (occurrences.length > MOST_TOLD) return `At most ${MOST_TOLD} occurrences are told at a time.`;
  for (const occurrence of occurrences) {
    const [issue] = occurrenceSchema.safeParse(occurrence).error?.issues ?? [];
    if (issue !== undefined) return `The occurrence ${String(occurrence.id).slice(0, 80)}: ${issue.path.join(".")}: ${issue.message}`;
  }
  return null;
}
