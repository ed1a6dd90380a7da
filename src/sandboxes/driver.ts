import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import type { Containers } from "./cloudflare/containers.ts";

/** What drivers look for among the bindings and settings of a service. */
export interface DriverEnv {
  /** Present in the local service only. */
  readonly LOCAL?: string | undefined;
  /** Answers for the process that started it. */
  readonly PARENT?: { fetch(url: string, init?: RequestInit): Promise<Response> } | undefined;
  /** See `usualSandbox`. */
  readonly SANDBOX?: string | undefined;
  /** Objects of Cloudflare's Sandbox SDK; a binding that a deployment adds. */
  readonly SANDBOXES?: Containers | undefined;
  /** Where providers are, under the names that their own clients read; absent = the public ones. */
  readonly PRIME_API_BASE_URL?: string | undefined;
  readonly E2B_DOMAIN?: string | undefined;
  readonly E2B_API_URL?: string | undefined;
  readonly E2B_SANDBOX_URL?: string | undefined;
}

/** What the service does for a driver. */
export interface DriverHost {
  readonly env: DriverEnv;
  /**
   * The value of a key variable for `host`: a secret of the run's team that may go there, else the service's own; null = neither is set. Throws `missing_key` for a
   * secret that is for other hosts alone, or cannot be opened.
   */
  readonly key: (name: string, host: string) => Promise<string | null>;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  readonly sleep: (ms: number, signal?: AbortSignal | null) => Promise<void>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** One provider of sandboxes, as this service reaches it. Says and does nothing before it is asked. */
export interface SandboxDriver {
  /** What is missing for it, and what to do about that, for a person; null = nothing. Does not look whether the provider lets us in. */
  problem(host: DriverHost): Promise<string | null>;
  /** What is missing is told by the first `create`, as a `SandboxCreationError`. */
  open(host: DriverHost): Sandbox;
}
