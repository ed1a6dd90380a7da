import { type PriceRow, pricesOfRow } from "../../config/endpoints/price-rows.ts";
import { MAX_GIVEN_PRICES } from "../../limits.ts";
import type { GivenPrice } from "../../prices/price.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { placesOfRow } from "./named-endpoint.ts";

/** Prices of a request, those of an endpoint that the team has written out as its places. Undefined where the request says nothing of prices. `at`: where in the request they are. */
export async function pricesWrittenOut(
  ports: AppPorts,
  rows: readonly PriceRow[] | undefined,
  at: readonly string[],
): Promise<readonly GivenPrice[] | undefined> {
  if (rows === undefined) return undefined;
  const prices: GivenPrice[] = [];
  for (const [index, row] of rows.entries()) prices.push(...pricesOfRow(row, await placesOfRow(ports, row, [...at, index])));
  if (prices.length > MAX_GIVEN_PRICES)
    throw invalid(at, `come to ${prices.length} prices, one for each place of an endpoint; at most ${MAX_GIVEN_PRICES} are kept`);
  return prices;
}
