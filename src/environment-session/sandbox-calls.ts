import { onAbort } from "../clients/transport/on-abort.ts";
import { type CrossedError, thrownOf } from "../environment-protocol/crossed-error.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import { crossedBytes, crossingBytes, type SandboxRequestMessage } from "../environment-protocol/sandbox-values.ts";
import type { ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import { CommandTimedOut, type Sandbox } from "../environments/sandbox/sandbox.ts";
import { EdgewiseError } from "../errors/result.ts";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../errors/rollout-errors.ts";
import { MAX_SANDBOX_COMMAND_SECONDS, MAX_SANDBOX_FILE_BYTES } from "../limits.ts";

interface Pending {
  readonly resolve: (result: object) => void;
  readonly reject: (thrown: unknown) => void;
  readonly letGo: () => void;
}

/** Sandboxes that the engine's side has and does everything with that the environment asks for by messages. */
export class SandboxCalls {
  readonly #outbox: Outbox;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** As `LoadContext.sandbox`; whether there are such sandboxes was looked at when the run was made. */
  readonly of = (driver?: string): Sandbox => {
    const ask = <Result extends object>(request: SandboxRequestMessage, signal: AbortSignal | null = null): Promise<Result> =>
      this.#ask(driver ?? null, request, signal) as Promise<Result>;
    return {
      create: async (spec, signal) =>
        (await ask<{ id: string }>({ op: "create", spec: { ...spec, labels: [...spec.labels], environment_vars: { ...spec.environment_vars } } }, signal)).id,
      ready: async (id, signal) => void (await ask({ op: "ready", id }, signal)),
      execute: async (id, command, { timeoutSeconds, workingDir = null, signal }) => {
        const timeout_seconds = Math.min(timeoutSeconds, MAX_SANDBOX_COMMAND_SECONDS);
        const { command: result } = await ask<{ command: Awaited<ReturnType<Sandbox["execute"]>> }>(
          { op: "execute", id, command, timeout_seconds, working_dir: workingDir },
          signal,
        );
        return result;
      },
      start: async (id, command, { workingDir = null } = {}) => (await ask<{ job: string }>({ op: "start", id, command, working_dir: workingDir })).job,
      job: async (id, job) => (await ask<{ status: Awaited<ReturnType<Sandbox["job"]>> }>({ op: "job", id, job })).status,
      stop: async (id, job) => void (await ask({ op: "stop", id, job })),
      writeFile: async (id, path, content) => {
        if (content.length > MAX_SANDBOX_FILE_BYTES)
          throw new SandboxError(`${path} has ${content.length} bytes; a file that is put into a sandbox has ${MAX_SANDBOX_FILE_BYTES} at most`);
        await ask({ op: "write", id, path, content: crossingBytes(content) });
      },
      readFile: async (id, path) => crossedBytes((await ask<{ content: string }>({ op: "read", id, path })).content),
      expose: async (id, port) => (await ask<{ url: string }>({ op: "expose", id, port })).url,
      delete: async (ids) => void (await ask({ op: "delete", ids: [...ids] })),
    };
  };

  answered({ call, result, error }: ToEnvironmentOf<"sandbox_result">): void {
    const pending = this.#take(call);
    if (pending === undefined) return;
    if (result !== undefined) pending.resolve(result);
    else pending.reject(error === undefined ? new EdgewiseError("internal", "a use of a sandbox was answered with nothing") : failed(error));
  }

  #ask(driver: string | null, request: SandboxRequestMessage, signal: AbortSignal | null): Promise<object> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      const letGo = signal === null ? () => undefined : onAbort(signal, () => this.#cancel(call, signal.reason));
      this.#pending.set(call, { resolve, reject, letGo });
      this.#outbox.put({ type: "sandbox", call, driver, request }, request.op === "write" ? request.content.length : 0);
    });
  }

  #cancel(call: number, reason: unknown): void {
    const pending = this.#take(call);
    if (pending === undefined) return;
    this.#outbox.put({ type: "cancel_sandbox", call });
    pending.reject(reason);
  }

  #take(call: number): Pending | undefined {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    pending?.letGo();
    return pending;
  }
}

const CLASSES = { SandboxError, SandboxCreationError, SandboxNotReadyError, CommandTimedOut } as const;

/** What environments tell apart by its class has it again. */
function failed(error: CrossedError): Error {
  const known = Object.hasOwn(CLASSES, error.name) ? CLASSES[error.name as keyof typeof CLASSES] : undefined;
  if (known === undefined) return thrownOf(error);
  return new known(error.message, { cause: thrownOf(error).cause, ...(error.hint === undefined ? {} : { hint: error.hint }) });
}
