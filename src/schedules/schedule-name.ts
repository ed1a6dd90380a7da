/** What a team may call a schedule. */
export { GIVEN_NAME_RULE as SCHEDULE_NAME_RULE, isGivenName as isScheduleName } from "../config/given-name.ts";
