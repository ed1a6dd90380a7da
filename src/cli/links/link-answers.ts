import type { ArgumentFacts } from "../../environments/definition/describe.ts";

/** What the service says of links (`/environments/linked`), as far as commands read it. */

export interface LinkAnswer {
  readonly name: string;
  readonly urls: readonly string[];
  /** As its server calls it. */
  readonly environment: string;
  readonly version: string;
  readonly description: string;
  readonly digest: string;
  readonly args: readonly ArgumentFacts[];
  readonly defaults: { readonly num_examples?: number; readonly rollouts_per_example?: number };
  readonly keys: readonly string[];
  readonly linked_at: string;
  readonly linked_by: string;
  /** Of a command that plays its run with it; null = it lasts. */
  readonly command: string | null;
  readonly lease_until: string | null;
}

export interface ServerAnswer {
  readonly url: string;
  readonly state: "healthy" | "other_code" | "refused" | "unreachable";
  readonly problem: string | null;
  readonly protocol: number | null;
  readonly environment: string | null;
  readonly version: string | null;
  readonly conversations: number | null;
  readonly units: number | null;
}

export type LinkStatusAnswer = LinkAnswer & { readonly servers: readonly ServerAnswer[] };
