import type { RunConfig } from "../config/plan/run-config.ts";

/** On every sandbox that a service makes. */
const OURS = "edgewise";
const GRANT = `${OURS}-grant-`;

/** Identity of a grant, as far as its sandboxes carry it. */
interface GrantOf {
  readonly ticket: number;
  readonly epoch: number;
}

/**
 * Labels that all sandboxes of a run have, and no other's: ids of runs are short, and services that share an account at a provider must not take one's for the
 * other's, so the moment of creation is with them.
 */
export const runLabels = ({ run_id, created_at }: Pick<RunConfig, "run_id" | "created_at">): readonly string[] => [
  OURS,
  `${OURS}-run-${run_id}`,
  `${OURS}-made-${created_at}`,
];

/** Those of a sandbox that is made under this grant; what the environment wants beside them is its own. */
export const grantLabels = (config: Pick<RunConfig, "run_id" | "created_at">, { ticket, epoch }: GrantOf, own: readonly string[]): readonly string[] => [
  ...runLabels(config),
  `${GRANT}${ticket}-${epoch}`,
  ...own.filter((label) => label !== OURS && !label.startsWith(`${OURS}-`)),
];

/** Epoch of the grant that a sandbox was made under; null where its labels do not say. */
export function epochIn(labels: readonly string[]): number | null {
  const epoch = labels.flatMap((label) => /^\d+-(\d+)$/.exec(label.startsWith(GRANT) ? label.slice(GRANT.length) : "")?.[1] ?? [])[0];
  return epoch === undefined ? null : Number(epoch);
}
