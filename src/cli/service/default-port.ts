/** Where `serve` listens unless it is told another port. */
export const DEFAULT_PORT = 8787;
