import { DEFAULT_START } from "../../environments/sandbox/sandbox-spec.ts";
import type { CommandOptions, CommandResult, ListedSandbox, Sandbox, SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import { checkFile, ShellSandbox } from "../shell-sandbox.ts";
import { quoted } from "../../environments/sandbox/shell-words.ts";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_FILE_BYTES } from "../../limits.ts";
import type { DriverHost } from "../driver.ts";
import { again } from "../wire/again.ts";
import { commandEvents } from "../wire/command-events.ts";
import { envelope } from "../wire/connect-stream.ts";
import { ask, bytesOf, isRecord, jsonOf, type ProviderRequest, ProviderRefusal, textIn } from "../wire/provider-http.ts";
import { type CommandEvent, DEADLINE_MARGIN_MS, executeRemotely, type RemoteCommands } from "../wire/remote-command.ts";
import { Gateway } from "./gateway.ts";
import { eventIn, PROVIDER, START, startRequest } from "./prime-wire.ts";

const BASE_URL = "https://api.primeintellect.ai";
export const primeBase = ({ PRIME_API_BASE_URL }: DriverHost["env"]): string => (PRIME_API_BASE_URL || BASE_URL).replace(/\/+$/, "").replace(/\/api\/v1$/, "");

const PAGE = 100;
const DELETED_AT_ONCE = 100;
const OVER: readonly unknown[] = ["ERROR", "TERMINATED", "TIMEOUT"];
/** An image that Prime has not made a machine of yet is made first, which takes minutes. */
const READY_MS = 10 * 60_000;
const POLL_FIRST_MS = 1_000;
const POLL_LAST_MS = 10_000;

/** Sandboxes of Prime: machines made from images of containers. They make no port reachable. */
export class PrimeSandbox extends ShellSandbox implements Sandbox, RemoteCommands {
  readonly #host: DriverHost;
  readonly #gateway: Gateway;
  readonly #homes = new Map<string, Promise<string>>();

  constructor(host: DriverHost) {
    super();
    this.#host = host;
    this.#gateway = new Gateway(host, (id) => this.#api("POST", `/sandbox/${encodeURIComponent(id)}/auth`));
  }

  async create(spec: SandboxSpec, signal?: AbortSignal | null): Promise<string> {
    const { advanced_configs, team_id, gpu_count, start_command, ...asked } = spec;
    const { gpu_type, network_allowlist, network_denylist, region, ...rest } = advanced_configs;
    const body = {
      ...asked,
      gpu_count,
      ...present({ gpu_type: gpu_count > 0 ? gpu_type : undefined, network_allowlist, network_denylist, region }),
      ...(start_command === DEFAULT_START ? {} : { start_command: { executable: "/bin/sh", args: ["-c", start_command] } }),
      ...(Object.keys(rest).length === 0 ? {} : { advanced_configs: rest }),
      ...present({ team_id: team_id ?? (await this.#team()) ?? undefined }),
      vm: true,
      // A repetition whose first answer was lost is the same creation.
      idempotency_key: crypto.randomUUID().replaceAll("-", ""),
    };
    try {
      const made = await this.#api("POST", "/sandbox", { body: JSON.stringify(body), signal: signal ?? null });
      const id = textIn(PROVIDER, made, "id");
      this.#gateway.seed(id, isRecord(made) ? made.gatewayAuth : undefined);
      return id;
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof SandboxError)) throw cause;
      throw new SandboxCreationError(cause.message, { cause });
    }
  }

  async ready(id: string, signal?: AbortSignal | null): Promise<void> {
    const until = this.#host.now() + READY_MS;
    for (let pause = POLL_FIRST_MS; ; pause = Math.min(POLL_LAST_MS, pause * 1.5)) {
      const problem = await this.#problem(id, signal ?? null);
      if (problem === null) return;
      if (this.#host.now() + pause > until) throw new SandboxNotReadyError(`sandbox ${id} did not start within ${READY_MS / 60_000} minutes: ${problem}`);
      await this.#host.sleep(pause, signal);
    }
  }

  /** What a sandbox lacks that may come; null where it takes commands. Throws a `SandboxNotReadyError` for one that is over. */
  async #problem(id: string, signal: AbortSignal | null): Promise<string | null> {
    const answer = await again(() => this.#api("GET", `/sandbox/${encodeURIComponent(id)}`, { signal }), this.#host.sleep).catch((cause: unknown) => {
      if (cause instanceof ProviderRefusal) throw new SandboxNotReadyError(`there is no sandbox ${id}: ${cause.message}`, { cause });
      throw cause;
    });
    const { status, errorType, errorMessage } = isRecord(answer) ? answer : {};
    if (OVER.includes(status))
      throw new SandboxNotReadyError(
        `sandbox ${id} is ${String(status)}${errorType === undefined || errorType === null ? "" : ` (${String(errorType)}: ${String(errorMessage ?? "")})`}`,
      );
    if (status !== "RUNNING") return `it is ${String(status)}`;
    try {
      await this.execute(id, "true", { timeoutSeconds: 10, signal });
      return null;
    } catch (thrown) {
      signal?.throwIfAborted();
      if (thrown instanceof SandboxError) return thrown.message;
      throw thrown;
    }
  }

  execute(id: string, command: string, options: CommandOptions): Promise<CommandResult> {
    return executeRemotely(this, id, command, options);
  }

  async begin(id: string, command: string, { workingDir, timeoutMs, signal }: Parameters<RemoteCommands["begin"]>[2]): Promise<AsyncIterable<CommandEvent>> {
    const response = await this.#gateway.ask(id, START, {
      method: "POST",
      headers: {
        "Content-Type": "application/connect+proto",
        "Connect-Protocol-Version": "1",
        "Connect-Timeout-Ms": String(Math.round(timeoutMs + DEADLINE_MARGIN_MS)),
      },
      body: envelope(startRequest(command, workingDir)),
      signal,
      streams: true,
    });
    return commandEvents(PROVIDER, response, eventIn);
  }

  async writeFile(id: string, path: string, content: Uint8Array): Promise<void> {
    checkFile(path, content);
    const whole = await this.#absolute(id, path);
    const folder = whole.slice(0, whole.lastIndexOf("/"));
    if (folder !== "") await this.execute(id, `mkdir -p ${quoted(folder)}`, { timeoutSeconds: 30 });
    const response = await this.#gateway.askAgain(id, `/upload?${new URLSearchParams({ path: whole, sandbox_id: id }).toString()}`, () => {
      const form = new FormData();
      form.append("file", new Blob([content as Uint8Array<ArrayBuffer>]), whole.slice(folder.length + 1));
      return { method: "POST", headers: {}, body: form };
    });
    await jsonOf(PROVIDER, response);
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    const query = new URLSearchParams({ path: await this.#absolute(id, path), sandbox_id: id });
    const response = await this.#gateway.askAgain(id, `/download?${query.toString()}`, () => ({ method: "GET", headers: {} }));
    return await bytesOf(PROVIDER, response, MAX_SANDBOX_FILE_BYTES);
  }

  async expose(): Promise<string> {
    throw new SandboxError("Prime's sandboxes make no port reachable", { hint: "Choose other sandboxes for this environment: --sandbox." });
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += DELETED_AT_ONCE) {
      const batch = ids.slice(at, at + DELETED_AT_ONCE);
      const answer = await this.#api("DELETE", "/sandbox", { body: JSON.stringify({ sandbox_ids: batch }) });
      const succeeded: readonly unknown[] = isRecord(answer) && Array.isArray(answer.succeeded) ? answer.succeeded : [];
      for (const id of batch) if (!succeeded.includes(id) && (await this.#isThere(id))) throw new SandboxError(`${PROVIDER} did not end sandbox ${id}`);
    }
    for (const id of ids) {
      this.#gateway.forget(id);
      this.#homes.delete(id);
    }
  }

  async #isThere(id: string): Promise<boolean> {
    try {
      const answer = await this.#api("GET", `/sandbox/${encodeURIComponent(id)}`);
      return isRecord(answer) && !OVER.includes(answer.status);
    } catch (thrown) {
      if (thrown instanceof ProviderRefusal && !thrown.isPassing) return false;
      throw thrown;
    }
  }

  async list(labels: readonly string[]): Promise<readonly ListedSandbox[]> {
    const found: ListedSandbox[] = [];
    const team = await this.#team();
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({ page: String(page), per_page: String(PAGE), is_active: "true", ...(team === null ? {} : { team_id: team }) });
      for (const label of labels) query.append("labels", label);
      const answer = await again(() => this.#api("GET", `/sandbox?${query.toString()}`), this.#host.sleep);
      const { sandboxes, hasNext } = isRecord(answer) ? answer : {};
      for (const each of Array.isArray(sandboxes) ? sandboxes.filter(isRecord) : []) {
        const own = Array.isArray(each.labels) ? each.labels.map(String) : [];
        const made = Date.parse(String(each.createdAt));
        if (OVER.includes(each.status) || !labels.every((label) => own.includes(label))) continue;
        found.push({ id: textIn(PROVIDER, each, "id"), labels: own, created_at: Number.isNaN(made) ? null : made });
      }
      if (hasNext !== true) return found;
    }
  }

  /** Files are named from the root, commands begin where the image says. */
  async #absolute(id: string, path: string): Promise<string> {
    if (path.startsWith("/")) return path;
    const known = this.#homes.get(id) ?? this.execute(id, "pwd", { timeoutSeconds: 30 }).then(({ stdout }) => stdout.trim());
    this.#homes.set(id, known);
    known.catch(() => this.#homes.delete(id));
    return `${(await known).replace(/\/$/, "")}/${path}`;
  }

  /** The team of whoever the key is of, where sandboxes are to be that team's. */
  #team(): Promise<string | null> {
    return this.#host.key("PRIME_TEAM_ID", new URL(primeBase(this.#host.env)).hostname);
  }

  async #api(method: ProviderRequest["method"], path: string, request: Partial<ProviderRequest> = {}): Promise<unknown> {
    const base = primeBase(this.#host.env);
    const key = await this.#host.key("PRIME_API_KEY", new URL(base).hostname);
    if (key === null) throw new SandboxError("PRIME_API_KEY is not set");
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    return await jsonOf(PROVIDER, await ask(this.#host, PROVIDER, `${base}/api/v1${path}`, { ...request, method, headers, follows: true }));
  }
}

const present = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
