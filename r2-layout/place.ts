/** Where the rows of a unit are: `length` bytes at `offset` of segment `{ticket}-{epoch}-{n}`; r lines, rollout order. */
export interface Place {
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
}

/** The place of a unit's rows, with the unit. */
export interface WindowPointer extends Place {
  readonly unit: number;
}
