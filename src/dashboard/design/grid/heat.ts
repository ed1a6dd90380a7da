/** Steps between the least and the greatest number of a column. */
export const HEAT_STEPS = 5;
const SIGNS = ["▁", "▂", "▄", "▆", "█"] as const;

/** `good`: more is better. `plain`: more is only more. */
export type HeatTone = "good" | "plain";

/** How a number stands within its column, from 0; null where the column has one number only, or this row none. */
export function heatOf(value: number, extent: { readonly low: number; readonly high: number } | null): number | null {
  if (extent === null || Number.isNaN(value) || !(extent.high > extent.low)) return null;
  const part = (value - extent.low) / (extent.high - extent.low);
  return Math.max(0, Math.min(HEAT_STEPS - 1, Math.round(part * (HEAT_STEPS - 1))));
}

/** As a bar of that height, so that it is seen without colours too. */
export const heatSign = (step: number): string => SIGNS[step] ?? "";
