import type { Ledger } from "../state/ledger.ts";
import { relocated } from "../state/relocated.ts";
import type { ErrorPlace } from "./row-answers.ts";
import type { RowValues } from "./row-values.ts";

/** Where the first rollout of each error that the totals count is; none for a code that is not counted yet. */
export function firstErrorsOf(ledger: Ledger, values: RowValues): readonly ErrorPlace[] {
  const codes = Object.keys(ledger.head()?.totals.errors ?? {});
  return codes.flatMap((code) => {
    const first = values.first(code);
    const done = first === null ? null : ledger.done(first.unit);
    const [place] = done === null ? [] : relocated(ledger, [done]);
    if (first === null || place === undefined) return [];
    const { unit, example, rollout, row } = first;
    const { segment, offset, length } = place;
    return [{ code, unit, example, rollout, row, segment, offset, length }];
  });
}
