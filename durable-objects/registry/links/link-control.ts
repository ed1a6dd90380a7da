import type { Result } from "../../../src/errors/result.ts";
import type { Link, SealedLink } from "../../../src/links/link.ts";

export interface NewLink extends Omit<SealedLink, "linked_at" | "lease_until"> {
  /** Which master key the token is encrypted with. */
  readonly key: string;
  /** Milliseconds from now; null = it lasts. */
  readonly lease_ms: number | null;
}

/** Environments of a team whose code runs elsewhere, as the door, executors and its Registry speak of them. */
export interface LinkControl {
  /** What is live under a name: at most one that lasts, and those of commands. */
  environmentLinks(name: string): Promise<readonly SealedLink[]>;
  /** All that are live, by their names. */
  listEnvironmentLinks(): Promise<readonly Link[]>;
  /** In the place of what the same command, or what lasts, has under the name. */
  linkEnvironment(link: NewLink): Promise<Result<Link>>;
  /** The link of a command lasts so many milliseconds more; null where it has lapsed, or never was. */
  renewEnvironmentLink(renewal: { readonly name: string; readonly command: string; readonly lease_ms: number }): Promise<Link | null>;
  /** Whether there was one. `command`: null = the one that lasts. */
  unlinkEnvironment(which: { readonly name: string; readonly command: string | null }): Promise<boolean>;
}
