/** Where a secret of a run comes from: what stands first wins over what follows. */
export const SOURCES = ["run", "environment", "link", "global"] as const;
export type SecretSource = (typeof SOURCES)[number];

/** A secret that may concern a run, as the team's Registry gives it. */
export interface SealedSecret {
  /** What its value is bound to, beside the team. */
  readonly id: string;
  readonly name: string;
  readonly from: SecretSource;
  /** Where it may be sent, as the key of a model; [] = it is bound to none. */
  readonly hosts: readonly string[];
  readonly sealed: string;
}

/** The same with its value, in the memory of whoever works for the run. */
export interface OpenSecret extends Omit<SealedSecret, "sealed"> {
  readonly value: string;
}
