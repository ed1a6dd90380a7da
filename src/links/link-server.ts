/** One environment server, and what it asks for. */
export interface LinkServer {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/** How one is. `unreachable`: it may be there in a while; `refused`: it answers, and not as such a server does, or not to this token. */
export interface ServerHealth {
  readonly state: "healthy" | "unreachable" | "refused";
  /** Why it is not healthy. */
  readonly problem: string | null;
  readonly protocol: number | null;
  readonly environment: string | null;
  readonly version: string | null;
  /** Under way there: conversations, and units in them. */
  readonly conversations: number | null;
  readonly units: number | null;
}
