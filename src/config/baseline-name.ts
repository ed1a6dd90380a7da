/** What a team may call a baseline; one that looks like the id of a run is none. */
export { GIVEN_NAME_RULE as BASELINE_RULE, isGivenName as isBaselineName } from "./given-name.ts";
