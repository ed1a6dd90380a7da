/**
 * Rules broken one at a time, as edits of the source. The simulator must find each; a pattern that no longer occurs exactly
 * once fails the test, so that a mutation cannot rot into a no-op.
 */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Schedule to begin with: one that finds it, where none of the first few does. When rules change it may find nothing, and the search goes on from there. */
  readonly first?: number;
  /** Only the full fleet can find it. */
  readonly fleet?: true;
}
