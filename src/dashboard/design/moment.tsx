import { printable } from "../../report/text/printable.ts";

const STEPS: readonly (readonly [ms: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_536_000_000, "year"],
  [2_592_000_000, "month"],
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** `3 hours ago`. `now`: Unix milliseconds. */
export function agoText(iso: string, now: number): string {
  const passed = Date.parse(iso) - now;
  const [ms, unit] = STEPS.find(([least]) => Math.abs(passed) >= least) ?? [0, "second"];
  return ms === 0 ? "just now" : relative.format(Math.trunc(passed / ms), unit);
}

/** How long ago something was; the moment itself where the pointer rests. */
export const Moment = ({ at, now }: { readonly at: string | null; readonly now: number }) =>
  at === null ? null : (
    <time dateTime={at} title={`${printable(at).slice(0, 19).replace("T", " ")} UTC`}>
      {agoText(at, now)}
    </time>
  );
