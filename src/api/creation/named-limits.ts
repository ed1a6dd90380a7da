import type { GivenLimit } from "../../config/endpoints/given-limit.ts";
import { type LimitRow, limitsOfRow } from "../../config/endpoints/limit-rows.ts";
import { MAX_GIVEN_LIMITS } from "../../limits.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { placesOfRow } from "./named-endpoint.ts";

/** Limits of a request, those of an endpoint that the team has written out as its places. Undefined where the request says nothing of limits. `at`: where in the request they are. */
export async function writtenOut(ports: AppPorts, rows: readonly LimitRow[] | undefined, at: readonly string[]): Promise<readonly GivenLimit[] | undefined> {
  if (rows === undefined) return undefined;
  const limits: GivenLimit[] = [];
  for (const [index, row] of rows.entries()) limits.push(...limitsOfRow(row, await placesOfRow(ports, row, [...at, index])));
  if (limits.length > MAX_GIVEN_LIMITS)
    throw invalid(at, `come to ${limits.length} limits, one for each place of an endpoint; at most ${MAX_GIVEN_LIMITS} are kept to`);
  return limits;
}
