import { Hono } from "hono";
import type { z } from "zod";
import type { ErrorPlace } from "../../../durable-objects/run/reading/row-answers.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { isInfrastructureError, ROLLOUT_ERRORS, type RolloutErrorCode } from "../../errors/codes.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import type { AppContext } from "../app-context.ts";
import type { ObjectStore } from "../app-ports.ts";
import { askRun } from "../cells/ask-run.ts";
import { readLine } from "../cells/row-lines.ts";
import { logUnexpected } from "../errors.ts";
import { found, runIdOf, viewOf } from "../runs/run-of.ts";
import { someAtOnce } from "../some-at-once.ts";
import type { errorGroups as answer } from "./summary-schemas.ts";

/** `/evaluations/{id}/errors`: what rollouts of a run ended in, by code. */
export const errorGroups = new Hono<AppContext>();

type First = NonNullable<z.infer<typeof answer>["errors"][number]["first"]>;

/** A message may hold what a server answered. */
const MESSAGE_CHARACTERS = 2_000;

errorGroups.get("/:id/errors", async (c) => {
  const { totals, config, pushed } = await viewOf(c);
  const places = found(await askRun(c, (run) => run.firstErrors()));
  const firsts = await someAtOnce(places, async (place) => [place.code, await firstOf(c.var.ports.store, runIdOf(c), place)] as const);
  const byCode = new Map<string, First>(firsts);
  const mayRepair = pushed === undefined && config.rescored_from === undefined;
  const said: z.infer<typeof answer> = {
    rollouts: totals.rollouts,
    errors: Object.entries(totals.errors)
      .map(([code, count]) => ({
        code,
        count,
        category: ROLLOUT_ERRORS[code as RolloutErrorCode].category,
        resumable: mayRepair && isInfrastructureError(code),
        first: byCode.get(code) ?? null,
      }))
      .sort((a, b) => b.count - a.count || a.code.localeCompare(b.code)),
  };
  return c.json(said);
});

/** Counts are worth more than a message: what cannot be read is said in the log. */
async function firstOf(store: ObjectStore, runId: string, place: ErrorPlace): Promise<First> {
  const { example, rollout, segment, row } = place;
  const unknown = { example, rollout, example_id: null, message: null };
  try {
    const line = await readLine(store, segmentKey(runId, segment), place, row);
    return line === null ? unknown : { ...unknown, ...said(readForeignRow(new TextDecoder().decode(line)).value) };
  } catch (thrown) {
    logUnexpected("errors", thrown);
    return unknown;
  }
}

/** What a row says of itself: ours, Python's, or one that was pushed. */
function said({ example_id: id, error }: Readonly<Record<string, unknown>>): Partial<First> {
  return {
    example_id: typeof id === "number" || typeof id === "string" ? id : null,
    message: messageOf(error)?.slice(0, MESSAGE_CHARACTERS) ?? null,
  };
}

function messageOf(error: unknown): string | null {
  if (typeof error === "string") return error;
  const { error_chain_repr: chain, error: name } = (error ?? {}) as { readonly error_chain_repr?: unknown; readonly error?: unknown };
  return typeof chain === "string" ? chain : typeof name === "string" ? name : null;
}
