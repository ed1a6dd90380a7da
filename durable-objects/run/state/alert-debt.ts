import type { Occurrence } from "../../../src/alerts/occurrence.ts";

/** Occurrences that the alert book of the team has not taken yet, the oldest first. Times are Unix milliseconds of the Run's clock. */
export interface AlertDebt {
  readonly owed: readonly Occurrence[];
  readonly retry_at: number;
  readonly tries: number;
}

/** Whether the watchdog is to look after them: the first telling did not succeed, and the run may have settled. */
export const alertsAreLate = ({ alerts }: { readonly alerts?: AlertDebt }): boolean => (alerts?.tries ?? 0) > 1;
