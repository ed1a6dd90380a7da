/** The link that a run is of: the environment's code runs in a process that the service reaches by HTTP, under this name of its team. */
export interface LinkedPin {
  readonly name: string;
  /** What the code was made from when the run was made, as its server said. Of two live links of the name the one with this code goes first. */
  readonly digest: string;
}
