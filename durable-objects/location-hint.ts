import { EdgewiseError } from "../src/errors/result.ts";

/** Regions that the platform takes as a hint; source: D durable-objects/reference/data-location, apac-ne and apac-se since June 2026. */
export const LOCATION_HINTS = [
  "wnam",
  "enam",
  "sam",
  "weur",
  "eeur",
  "apac",
  "apac-ne",
  "apac-se",
  "oc",
  "afr",
  "me",
] as const satisfies readonly DurableObjectLocationHint[];

/**
 * What every stub is asked for with: where objects are to be made, by `LOCATION_HINT` of `[vars]`. Undefined = unset or empty, and the platform makes
 * an object near whoever first calls it. It counts at an object's first call only: objects never move. An unknown one stops the service by its name.
 */
export function locationOf({ LOCATION_HINT: hint }: { readonly LOCATION_HINT?: string }): DurableObjectNamespaceGetDurableObjectOptions | undefined {
  if (hint === undefined || hint === "") return undefined;
  const locationHint = LOCATION_HINTS.find((known) => known === hint);
  if (locationHint === undefined)
    throw new EdgewiseError("internal", `Variable LOCATION_HINT must be one of ${LOCATION_HINTS.join(", ")}, or be left out; it is ${JSON.stringify(hint)}.`);
  return { locationHint };
}
