import type { SandboxSpec } from "../../environments/sandbox/sandbox.ts";

/** Where the Worker reaches the process that started the local service with questions of sandboxes. */
export const SANDBOXES_PATH = "/sandboxes";

/** What stands around a local sandbox. */
export const WALLS = ["bubblewrap", "docker"] as const;
export type Wall = (typeof WALLS)[number];

/** What the Worker asks, one JSON object each. */
export type SandboxQuestion =
  /** `call` names what `abandon` may end. `wall` null = the first that is there and can be what the spec asks for. */
  | { readonly op: "create"; readonly call: string; readonly spec: SandboxSpec; readonly wall: Wall | null }
  | { readonly op: "ready"; readonly id: string }
  | {
      readonly op: "execute";
      readonly call: string;
      readonly id: string;
      readonly command: string;
      readonly timeout_seconds: number;
      readonly working_dir: string | null;
    }
  | { readonly op: "write"; readonly id: string; readonly path: string; readonly base64: string }
  | { readonly op: "read"; readonly id: string; readonly path: string }
  | { readonly op: "expose"; readonly id: string; readonly port: number }
  | { readonly op: "delete"; readonly ids: readonly string[] }
  | { readonly op: "list"; readonly labels: readonly string[] }
  | { readonly op: "abandon"; readonly call: string }
  /** Which walls are there, in words. */
  | { readonly op: "describe" };

/** Classes of errors that cross, by their names. */
export const SANDBOX_ERRORS = ["SandboxError", "SandboxCreationError", "SandboxNotReadyError", "CommandTimedOut"] as const;
export type SandboxErrorName = (typeof SANDBOX_ERRORS)[number];

/** What it is answered: exactly one of the two. */
export interface SandboxReply {
  readonly result?: unknown;
  readonly error?: { readonly name: SandboxErrorName; readonly message: string; readonly hint?: string };
}

/** One that a wall has, in words, or why it has none. */
export interface DescribedWall {
  readonly wall: Wall;
  /** Null = it is there. */
  readonly problem: string | null;
  /** What installs it, where it is not there. */
  readonly hint: string | null;
  /** How its limits are kept; null where it is not there. */
  readonly limits: string | null;
}
