import { ATTEMPTS_AT_ONCE } from "./attempt-columns.ts";

interface AttemptPagesProps {
  readonly rollouts: number;
  /** First attempt that is shown, from 0. */
  readonly from: number;
  readonly beyond: (by: 1 | -1) => boolean;
}

/** Which attempts are shown, of more than fit. */
export const AttemptPages = ({ rollouts, from, beyond }: AttemptPagesProps) => (
  <span class="attempt-pages">
    <button type="button" aria-label="Attempts before" disabled={from === 0} onClick={() => beyond(-1)}>
      ←
    </button>
    {from} to {Math.min(rollouts, from + ATTEMPTS_AT_ONCE) - 1} of {rollouts}
    <button type="button" aria-label="Next attempts" disabled={from + ATTEMPTS_AT_ONCE >= rollouts} onClick={() => beyond(1)}>
      →
    </button>
  </span>
);
