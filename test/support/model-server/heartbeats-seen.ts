/** What one address was called with. */
export interface Heartbeats {
  readonly total: number;
  readonly peak_in_flight: number;
  /** Method and target of each request, as sent. */
  readonly requests: readonly string[];
}

/** What the monitor at `serverUrl` counted for `name`. */
export const heartbeatsAt = async (serverUrl: string, name: string): Promise<Heartbeats> =>
  (await (await fetch(`${serverUrl}/seen/${name}`)).json()) as Heartbeats;
