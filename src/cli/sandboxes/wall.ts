import type { SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import type { DescribedWall, Wall } from "../../sandboxes/local/messages.ts";

/** One command of a sandbox. */
export interface WalledCommand {
  readonly command: string;
  readonly workingDir: string | null;
  readonly timeoutSeconds: number;
  /** Of standard output and of errors each: what is more is read and thrown away. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | null;
  /** Given to it as its standard input; null = nothing. */
  readonly input: Uint8Array | null;
}

export interface WalledOutput {
  readonly bytes: Buffer;
  readonly truncated: boolean;
}

export interface WalledResult {
  readonly stdout: WalledOutput;
  readonly stderr: WalledOutput;
  readonly exitCode: number;
}

/** A sandbox that is there. */
export interface WalledSandbox {
  /** Throws a `CommandTimedOut`, the reason of the signal, or a `SandboxError` where the sandbox is gone or takes no commands. */
  run(command: WalledCommand): Promise<WalledResult>;
  /** Makes a TCP port of it reachable from this machine; gives its address, which is gone with the sandbox. */
  expose(port: number): Promise<string>;
  /** Ends it with all that runs in it. May be said twice. */
  end(): Promise<void>;
  /** Why it has ended; pending while it lives. */
  readonly ended: Promise<string>;
}

/** What makes sandboxes. */
export interface WallMaker {
  readonly wall: Wall;
  describe(): Promise<DescribedWall>;
  /** Why it cannot be what a spec asks for; null when it can. */
  lacks(spec: SandboxSpec): string | null;
  /** Throws a `SandboxCreationError`. */
  open(id: string, spec: SandboxSpec): Promise<WalledSandbox>;
  /** Removes what owners that are no more left behind. */
  sweep(): Promise<void>;
}
