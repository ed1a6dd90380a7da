/** Share of rollouts without a score from which nothing is decided by a run: who failed to answer is no random part. */
export const MOST_ERRORS = 0.05;
