import type { RunHead } from "../state/head.ts";

/** Whether a rule to stop by could look at done units now. Until all is pinned nobody knows how many there are; what a repair or a folder may replace is no prefix yet. */
export const mayWatch = ({ phase, n, pinning, import: source, repair }: RunHead): boolean =>
  phase === "open" && n !== null && pinning !== true && source === null && repair === undefined;
