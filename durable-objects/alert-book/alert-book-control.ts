import type { Occurrence } from "../../src/alerts/occurrence.ts";
import type { Result } from "../../src/errors/result.ts";

/** What crosses the border between a team's alert book and whoever tells it something, delivers for it, or changes its alerts. */
export interface AlertBookControl {
  /**
   * What has happened. Safe to repeat: of one id the first telling counts. `asked`: whether the team has any alert; nothing is stored where it has none.
   * Refused whole with `invalid_request` where one of them is no occurrence.
   */
  take(told: { readonly team: string; readonly occurrences: readonly Occurrence[] }): Promise<Result<{ readonly asked: boolean }>>;
}
