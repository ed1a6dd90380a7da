import { boundedResult } from "../../environments/sandbox/bounded-output.ts";
import {
  CommandTimedOut,
  type CommandOptions,
  type CommandResult,
  type ListedSandbox,
  type Sandbox,
  type SandboxSpec,
} from "../../environments/sandbox/sandbox.ts";
import { checkFile, ShellSandbox } from "../shell-sandbox.ts";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { type DescribedWall, SANDBOXES_PATH, type SandboxQuestion, type SandboxReply, type Wall } from "./messages.ts";

/** The part of a service binding that is used. */
export interface Parent {
  fetch(url: string, init: { readonly method: "POST"; readonly body: string }): Promise<Response>;
}

const NOT_HERE = "sandboxes of this machine are there under the local service only: choose another provider";

/**
 * Sandboxes of the machine that the local service runs on, made by the process that started it (`src/cli/sandboxes/`). `parent` is how that is
 * reached; undefined, as in a deployment, lets every call say that there is none.
 */
export class LocalSandbox extends ShellSandbox implements Sandbox {
  readonly #parent: Parent | undefined;
  readonly #wall: Wall | null;

  constructor(parent: Parent | undefined, { wall = null }: { readonly wall?: Wall | null } = {}) {
    super();
    this.#parent = parent;
    this.#wall = wall;
  }

  async create(spec: SandboxSpec, signal: AbortSignal | null = null): Promise<string> {
    const call = crypto.randomUUID();
    return (await this.#abandonable({ op: "create", call, spec, wall: this.#wall }, signal)) as string;
  }

  async ready(id: string, signal?: AbortSignal | null): Promise<void> {
    signal?.throwIfAborted();
    await this.#ask({ op: "ready", id });
  }

  async execute(id: string, command: string, { timeoutSeconds, workingDir = null, signal = null }: CommandOptions): Promise<CommandResult> {
    const call = crypto.randomUUID();
    const question: SandboxQuestion = { op: "execute", call, id, command, timeout_seconds: timeoutSeconds, working_dir: workingDir };
    return boundedResult((await this.#abandonable(question, signal)) as CommandResult);
  }

  async writeFile(id: string, path: string, content: Uint8Array): Promise<void> {
    checkFile(path, content);
    await this.#ask({ op: "write", id, path, base64: base64Of(content) });
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    return Uint8Array.from(atob((await this.#ask({ op: "read", id, path })) as string), (character) => character.charCodeAt(0));
  }

  async expose(id: string, port: number): Promise<string> {
    return (await this.#ask({ op: "expose", id, port })) as string;
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#ask({ op: "delete", ids });
  }

  async list(labels: readonly string[]): Promise<readonly ListedSandbox[]> {
    return (await this.#ask({ op: "list", labels })) as readonly ListedSandbox[];
  }

  /** Which walls this machine has, and how their limits are kept. */
  async describe(): Promise<readonly DescribedWall[]> {
    return (await this.#ask({ op: "describe" })) as readonly DescribedWall[];
  }

  /** What takes long is told when nobody waits for it any more. */
  async #abandonable(question: SandboxQuestion & { readonly call: string }, signal: AbortSignal | null): Promise<unknown> {
    signal?.throwIfAborted();
    const abandon = (): void => void this.#ask({ op: "abandon", call: question.call }).catch(() => undefined);
    signal?.addEventListener("abort", abandon, { once: true });
    try {
      return await this.#ask(question);
    } catch (thrown) {
      signal?.throwIfAborted();
      throw thrown;
    } finally {
      signal?.removeEventListener("abort", abandon);
    }
  }

  async #ask(question: SandboxQuestion): Promise<unknown> {
    if (this.#parent === undefined) throw new SandboxCreationError(NOT_HERE);
    const { result, error } = await asked(this.#parent, question);
    if (error === undefined) return result;
    const { name, message, hint } = error;
    if (name === "CommandTimedOut") throw new CommandTimedOut(message);
    const Class = name === "SandboxCreationError" ? SandboxCreationError : name === "SandboxNotReadyError" ? SandboxNotReadyError : SandboxError;
    throw new Class(message, hint === undefined ? {} : { hint });
  }
}

async function asked(parent: Parent, question: SandboxQuestion): Promise<SandboxReply> {
  try {
    const response = await parent.fetch(`http://parent${SANDBOXES_PATH}`, { method: "POST", body: JSON.stringify(question) });
    return (await response.json()) as SandboxReply;
  } catch (cause) {
    throw new SandboxError("the process that started the service does not answer about sandboxes", { cause });
  }
}

/** In steps: a call takes so many arguments. */
function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}
