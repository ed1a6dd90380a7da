import { Gate } from "../clients/gate.ts";
import { crossing } from "../environment-protocol/crossed-error.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import { crossedBytes, crossingBytes, type SandboxRequestMessage, type SandboxResultMessage } from "../environment-protocol/sandbox-values.ts";
import type { ToEngineOf } from "../environment-protocol/to-engine.ts";
import type { LoadContext } from "../environments/definition/definition.ts";
import { NoSandboxError } from "../environments/sandbox/asked-for.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import { EdgewiseError } from "../errors/result.ts";
import { SandboxCreationError, SandboxError } from "../errors/rollout-errors.ts";
import { MAX_WALLED_SANDBOX_CALLS, MAX_WALLED_SANDBOX_FILES, MAX_WALLED_SANDBOXES } from "../limits.ts";

type Call = ToEngineOf<"sandbox">;

/** Does with sandboxes what an environment behind a wall asks for: it has no key of a provider, and no sandboxes but those of its run. */
export class SandboxAnswers {
  readonly #outbox: Outbox;
  readonly #sandboxOf: LoadContext["sandbox"];
  readonly #open = new Map<number, AbortController>();
  /** Sandboxes that this session made and has not ended. */
  readonly #made = new Map<string, Sandbox>();
  #creating = 0;
  readonly #files = new Gate(MAX_WALLED_SANDBOX_FILES);
  #last = 0;

  constructor(outbox: Outbox, sandboxOf: LoadContext["sandbox"]) {
    this.#outbox = outbox;
    this.#sandboxOf = sandboxOf;
  }

  /** Something is being done: nobody is silent meanwhile. */
  get isBusy(): boolean {
    return this.#open.size > 0;
  }

  /** Does what the message asks for. Returns what is wrong with its number, if anything. */
  ask(message: Call): string | null {
    const { call } = message;
    if (call <= this.#last) return `it gave the number ${call} to a second use of a sandbox`;
    this.#last = call;
    if (this.#open.size >= MAX_WALLED_SANDBOX_CALLS) {
      this.#answer(call, { error: crossing(new SandboxError(`${MAX_WALLED_SANDBOX_CALLS} uses of sandboxes are under way`)) });
      return null;
    }
    const over = new AbortController();
    this.#open.set(call, over);
    this.#done(message, over.signal).then(
      (result) => this.#finish(call, over, { result }),
      (thrown: unknown) => this.#finish(call, over, { error: crossing(thrown) }),
    );
    return null;
  }

  cancel(call: number): void {
    const over = this.#open.get(call);
    this.#open.delete(call);
    over?.abort(new Error("the environment wants no answer any more"));
  }

  /** The session is over: what is under way ends. `broken`: it could not end its sandboxes itself. */
  end(broken: boolean): void {
    for (const call of [...this.#open.keys()]) this.cancel(call);
    if (!broken) return;
    for (const [id, sandbox] of this.#made) sandbox.delete([id]).catch(() => undefined);
    this.#made.clear();
  }

  #finish(call: number, over: AbortController, answer: object): void {
    if (this.#open.get(call) !== over) return;
    this.#open.delete(call);
    this.#answer(call, answer);
  }

  #answer(call: number, answer: { readonly result?: SandboxResultMessage; readonly error?: object }): void {
    const { result = {} } = answer;
    const characters = "content" in result ? result.content.length : "command" in result ? result.command.stdout.length + result.command.stderr.length : 0;
    this.#outbox.put({ type: "sandbox_result", call, ...answer }, characters);
  }

  async #done({ driver, request }: Call, signal: AbortSignal): Promise<SandboxResultMessage> {
    const sandbox = this.#of(driver);
    switch (request.op) {
      case "create":
        return { id: await this.#create(sandbox, request.spec, signal) };
      case "ready":
        return await nothing(sandbox.ready(request.id, signal));
      case "execute": {
        const { id, command, timeout_seconds: timeoutSeconds, working_dir: workingDir } = request;
        return { command: await sandbox.execute(id, command, { timeoutSeconds, workingDir, signal }) };
      }
      case "start":
        return { job: await sandbox.start(request.id, request.command, { workingDir: request.working_dir }) };
      case "job":
        return { status: await sandbox.job(request.id, request.job) };
      case "stop":
        return await nothing(sandbox.stop(request.id, request.job));
      case "write":
        return await this.#within(signal, () => nothing(sandbox.writeFile(request.id, request.path, crossedBytes(request.content))));
      case "read":
        return await this.#within(signal, async () => ({ content: crossingBytes(await sandbox.readFile(request.id, request.path)) }));
      case "expose":
        return { url: await sandbox.expose(request.id, request.port) };
      case "delete":
        await sandbox.delete(request.ids);
        for (const id of request.ids) this.#made.delete(id);
        return {};
    }
  }

  #of(driver: string | null): Sandbox {
    if (this.#sandboxOf === undefined) throw new SandboxCreationError("this host gives environments no sandboxes");
    try {
      return this.#sandboxOf(driver ?? undefined);
    } catch (thrown) {
      // The service has changed since the run was made: another time it may have them.
      if (thrown instanceof NoSandboxError) throw new SandboxCreationError(thrown.message, { cause: thrown });
      throw thrown;
    }
  }

  async #create(sandbox: Sandbox, spec: Extract<SandboxRequestMessage, { op: "create" }>["spec"], signal: AbortSignal): Promise<string> {
    if (this.#made.size + this.#creating >= MAX_WALLED_SANDBOXES)
      throw new EdgewiseError("environment_error", `an environment has ${MAX_WALLED_SANDBOXES} sandboxes at most at once: it does not end them`);
    this.#creating++;
    try {
      const id = await sandbox.create(spec, signal);
      if (signal.aborted) await sandbox.delete([id]);
      else this.#made.set(id, sandbox);
      return id;
    } finally {
      this.#creating--;
    }
  }

  async #within<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#files.enter(signal);
    try {
      return await work();
    } finally {
      this.#files.leave();
    }
  }
}

const nothing = async (work: Promise<void>): Promise<SandboxResultMessage> => {
  await work;
  return {};
};
