import type { GivenLimit } from "../../config/endpoints/given-limit.ts";
import { type LimitRow, limitsOfRow } from "../../config/endpoints/limit-rows.ts";
import { MAX_GIVEN_LIMITS } from "../../limits.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { entriesOf } from "./named-endpoint.ts";

/** Limits of a request, those of an endpoint that the team has written out as its places. Undefined where the request says nothing of limits. `at`: where in the request they are. */
export async function writtenOut(ports: AppPorts, rows: readonly LimitRow[] | undefined, at: readonly string[]): Promise<readonly GivenLimit[] | undefined> {
  if (rows === undefined) return undefined;
  const limits: GivenLimit[] = [];
  for (const [index, row] of rows.entries()) {
    const entries = row.endpoint_id === undefined ? [] : await entriesOf(ports, row.endpoint_id);
    if (entries === null)
      throw invalid(
        [...at, index, "endpoint_id"],
        `${JSON.stringify(row.endpoint_id)} is no endpoint of this team: GET /endpoints (\`npx edgewise endpoint list\`) shows those there are`,
      );
    limits.push(...limitsOfRow(row, entries));
  }
  if (limits.length > MAX_GIVEN_LIMITS)
    throw invalid(at, `come to ${limits.length} limits, one for each place of an endpoint; at most ${MAX_GIVEN_LIMITS} are kept to`);
  return limits;
}
