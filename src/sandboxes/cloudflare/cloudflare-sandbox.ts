import { boundedResult } from "../../environments/sandbox/bounded-output.ts";
import { DEFAULT_IMAGE } from "../../environments/sandbox/sandbox-spec.ts";
import { CommandTimedOut, type CommandOptions, type CommandResult, type Sandbox, type SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import { checkFile, ShellSandbox } from "../shell-sandbox.ts";
import { quoted } from "../../environments/sandbox/shell-words.ts";
import { crossedBytes, crossingBytes } from "../../environment-protocol/sandbox-values.ts";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_FILE_BYTES, MAX_SANDBOX_OUTPUT_BYTES } from "../../limits.ts";
import { textOf } from "../wire/provider-http.ts";
import { contained, containedOf, marking } from "./contained-command.ts";
import type { Containers, ContainerStub } from "./containers.ts";

export const UNBOUND = "the service has no binding SANDBOXES to containers of Cloudflare's Sandbox SDK: wrangler.toml says how to add it (docs/sandboxes.md)";

/** The SDK's own limit of a command, beyond ours: it would leave the command running. */
const MARGIN_MS = 15_000;
/** What a container may take to be there, of which the SDK waits for the most itself. */
const STARTING_SECONDS = 180;
const ID = /^[a-z0-9-]{1,63}$/;

/** Cloudflare's containers beside a deployed Worker. Which sandboxes there are nobody can ask: none is found by labels, and what is left over falls asleep. */
export class CloudflareSandbox extends ShellSandbox implements Sandbox {
  readonly #containers: Containers | undefined;

  /** `containers`: undefined lets every call say that there are none. */
  constructor(containers: Containers | undefined) {
    super();
    this.#containers = containers;
  }

  async create(spec: SandboxSpec, signal?: AbortSignal | null): Promise<string> {
    signal?.throwIfAborted();
    if (spec.gpu_count > 0) throw new SandboxCreationError("Cloudflare's containers have no GPUs");
    if (spec.docker_image !== DEFAULT_IMAGE)
      throw new SandboxCreationError(`Cloudflare's containers have the image that their Worker is deployed with, and not ${spec.docker_image}`, {
        hint: "Put what the environment needs into that image, and leave its own out.",
      });
    const id = `edgewise-${crypto.randomUUID()}`;
    try {
      const stub = this.#stub(id);
      await stub.configure({ sandboxName: { name: id, normalizeId: true }, sleepAfter: `${Math.ceil(spec.timeout_minutes)}m` });
      const { exitCode, stderr } = await stub.exec(marking(id, spec.environment_vars), { timeout: STARTING_SECONDS * 1_000 });
      if (exitCode !== 0) throw new SandboxError(stderr.trim() || `status ${exitCode}`);
      return id;
    } catch (cause) {
      await this.delete([id]).catch(() => undefined);
      throw new SandboxCreationError(`a container cannot be had: ${textOf(cause)}`, { cause });
    }
  }

  async ready(id: string, signal?: AbortSignal | null): Promise<void> {
    try {
      await this.execute(id, "true", { timeoutSeconds: STARTING_SECONDS, signal: signal ?? null });
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof SandboxError)) throw cause;
      throw new SandboxNotReadyError(cause.message, { cause });
    }
  }

  async execute(id: string, command: string, { timeoutSeconds, workingDir = null, signal = null }: CommandOptions): Promise<CommandResult> {
    signal?.throwIfAborted();
    const running = this.#call(id, (stub) => stub.exec(contained(id, command, timeoutSeconds, workingDir), { timeout: timeoutSeconds * 1_000 + MARGIN_MS }));
    // A command that nobody waits for ends when its time is over.
    const { stdout, stderr } = await (signal === null ? running : Promise.race([running, rejection(signal)]));
    const said = containedOf(stdout);
    if (said === null) throw new SandboxError(`a command of sandbox ${id} ended without its status: ${stderr.slice(0, 200)}`);
    if (said.status === "gone") throw new SandboxError(`there is no sandbox ${id} any more`);
    if (said.status === "late") throw new CommandTimedOut(`the command took longer than ${timeoutSeconds} s`);
    const [out, err] = said.bytes;
    return boundedResult({
      stdout: said.stdout,
      stderr,
      exit_code: said.status,
      ...(out > MAX_SANDBOX_OUTPUT_BYTES ? { stdout_truncated: true } : {}),
      ...(err > MAX_SANDBOX_OUTPUT_BYTES ? { stderr_truncated: true } : {}),
    });
  }

  async writeFile(id: string, path: string, content: Uint8Array): Promise<void> {
    checkFile(path, content);
    const whole = await this.#shell(
      id,
      `f=${quoted(path)}; mkdir -p -- "$(dirname -- "$f")" && : > "$f" && printf %s "$(cd -- "$(dirname -- "$f")" && pwd)/$(basename -- "$f")"`,
    );
    if (content.length > 0) await this.#call(id, (stub) => stub.writeFile(whole, crossingBytes(content), { encoding: "base64" }));
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    const found = await this.#shell(
      id,
      `f=${quoted(path)}; [ -f "$f" ] || { echo "there is no file $f" >&2; exit 1; }; echo $(($(wc -c < "$f"))); printf %s "$(cd -- "$(dirname -- "$f")" && pwd)/$(basename -- "$f")"`,
    );
    const [bytes = "", whole = ""] = [found.slice(0, found.indexOf("\n")), found.slice(found.indexOf("\n") + 1)];
    if (Number(bytes) > MAX_SANDBOX_FILE_BYTES)
      throw new SandboxError(`${path} has ${bytes} bytes: a file that is taken out may have ${MAX_SANDBOX_FILE_BYTES}`);
    if (Number(bytes) === 0) return new Uint8Array();
    return crossedBytes((await this.#call(id, (stub) => stub.readFile(whole, { encoding: "base64" }))).content.replace(/\s/g, ""));
  }

  async expose(id: string, port: number): Promise<string> {
    const { url } = await this.#call(id, (stub) => stub.callTunnels("get", [port]));
    return url.replace(/\/+$/, "");
  }

  async delete(ids: readonly string[]): Promise<void> {
    // Whoever is asked for one that never was makes one.
    await Promise.all(ids.filter((id) => ID.test(id) && id.startsWith("edgewise-")).map((id) => this.#call(id, (stub) => stub.destroy())));
  }

  /** The output of a command of our own. */
  async #shell(id: string, command: string): Promise<string> {
    const { stdout, stderr, exit_code } = await this.execute(id, command, { timeoutSeconds: 30 });
    if (exit_code !== 0) throw new SandboxError(stderr.trim() || `status ${exit_code}`);
    return stdout;
  }

  async #call<T>(id: string, work: (stub: ContainerStub) => Promise<T>): Promise<T> {
    if (!ID.test(id)) throw new SandboxError(`there is no sandbox ${id.slice(0, 100)}`);
    try {
      return await work(this.#stub(id));
    } catch (cause) {
      if (cause instanceof SandboxError) throw cause;
      throw new SandboxError(`the container of sandbox ${id} failed: ${textOf(cause)}`, { cause });
    }
  }

  #stub(id: string): ContainerStub {
    if (this.#containers === undefined) throw new SandboxCreationError(UNBOUND);
    return this.#containers.get(this.#containers.idFromName(id)) as ContainerStub;
  }
}

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }));
