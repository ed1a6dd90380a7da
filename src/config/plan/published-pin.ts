/** The version of a published environment that a run is of, and the code that it had when the run was made. */
export interface PublishedPin {
  /** Of the team that published it, as names have it (src/published/published-name.ts). */
  readonly owner: string;
  readonly name: string;
  readonly version: string;
  /** sha256 of the module, in hex. */
  readonly digest: string;
}
