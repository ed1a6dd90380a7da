/** What the library counts of every conversation, and sums up of every text: numbers of something from 0 on. One turn each is no passed test. */
export const isCount = (metric: string): boolean => metric === "num_turns" || metric.endsWith("_calls") || metric.startsWith("nll_");
