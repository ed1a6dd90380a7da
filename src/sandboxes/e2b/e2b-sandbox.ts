import { DEFAULT_IMAGE } from "../../environments/sandbox/sandbox-spec.ts";
import type { CommandOptions, CommandResult, ListedSandbox, Sandbox, SandboxSpec } from "../../environments/sandbox/sandbox.ts";
import { checkFile, ShellSandbox } from "../shell-sandbox.ts";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_FILE_BYTES } from "../../limits.ts";
import type { DriverHost } from "../driver.ts";
import { again } from "../wire/again.ts";
import { commandEvents } from "../wire/command-events.ts";
import { envelope } from "../wire/connect-stream.ts";
import { ask, bytesOf, isRecord, jsonOf, type ProviderRequest, ProviderRefusal, textIn } from "../wire/provider-http.ts";
import { type CommandEvent, DEADLINE_MARGIN_MS, executeRemotely, type RemoteCommands } from "../wire/remote-command.ts";
import { ENVD_PORT, eventIn, KEEPALIVE, labelsIn, metadataFilter, metadataOf, PROVIDER, START, startRequest, userOf } from "./e2b-wire.ts";

/** What commands and files of one sandbox are reached with. */
interface Envd {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly domain: string;
}

const DOMAIN = "e2b.app";
/** What a template of E2B's own is called, which has Python. */
const TEMPLATE = "base";
const PAGE = 100;
const READY_ATTEMPTS = 30;
const READY_PAUSE_MS = 1_000;

/** Sandboxes of E2B: made from templates, with their processors and memory; images of containers it has none. */
export class E2bSandbox extends ShellSandbox implements Sandbox, RemoteCommands {
  readonly #host: DriverHost;
  readonly #known = new Map<string, Promise<Envd>>();

  constructor(host: DriverHost) {
    super();
    this.#host = host;
  }

  async create(spec: SandboxSpec, signal?: AbortSignal | null): Promise<string> {
    const body = {
      templateID: templateOf(spec),
      timeout: Math.ceil(spec.timeout_minutes * 60),
      metadata: metadataOf(spec.labels),
      envVars: spec.environment_vars,
      ...(typeof spec.advanced_configs.allow_internet_access === "boolean" ? { allow_internet_access: spec.advanced_configs.allow_internet_access } : {}),
    };
    // A repetition whose first answer was lost is the same creation.
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const made = await this.#api("POST", "/v2/sandboxes", { body: JSON.stringify(body), headers, signal: signal ?? null }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      if (!(cause instanceof SandboxError)) throw cause;
      throw new SandboxCreationError(cause.message, { cause, ...(cause.hint === undefined ? {} : { hint: cause.hint }) });
    });
    const id = textIn(PROVIDER, made, "sandboxID");
    this.#known.set(id, Promise.resolve(this.#envdOf(id, made)));
    return id;
  }

  async ready(id: string, signal?: AbortSignal | null): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { url, headers } = await this.#envd(id);
        await ask(this.#host, PROVIDER, `${url}/health`, { method: "GET", headers, signal: signal ?? null, timeoutMs: 5_000 });
        return;
      } catch (cause) {
        if (!(cause instanceof SandboxError)) throw cause;
        if (attempt >= READY_ATTEMPTS || isGone(cause)) throw new SandboxNotReadyError(`sandbox ${id} does not start: ${cause.message}`, { cause });
        await this.#host.sleep(READY_PAUSE_MS, signal);
      }
    }
  }

  execute(id: string, command: string, options: CommandOptions): Promise<CommandResult> {
    return executeRemotely(this, id, command, options);
  }

  async begin(id: string, command: string, { workingDir, timeoutMs, signal }: Parameters<RemoteCommands["begin"]>[2]): Promise<AsyncIterable<CommandEvent>> {
    const { url, headers } = await this.#envd(id);
    const response = await ask(this.#host, PROVIDER, `${url}${START}`, {
      method: "POST",
      headers: {
        ...headers,
        ...KEEPALIVE,
        "Content-Type": "application/connect+json",
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
    const send = (): Promise<Response> => {
      const form = new FormData();
      form.append("file", new Blob([content as Uint8Array<ArrayBuffer>]), path);
      return this.#file(id, path, { method: "POST", body: form });
    };
    await jsonOf(PROVIDER, await again(send, this.#host.sleep));
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    const response = await again(() => this.#file(id, path, { method: "GET" }), this.#host.sleep).catch((cause: unknown) => {
      if (cause instanceof ProviderRefusal && cause.status === 404) throw new SandboxError(`sandbox ${id} has no file ${path}`, { cause });
      throw cause;
    });
    return await bytesOf(PROVIDER, response, MAX_SANDBOX_FILE_BYTES);
  }

  async expose(id: string, port: number): Promise<string> {
    const { domain } = await this.#envd(id);
    return `https://${port}-${id}.${domain}`;
  }

  async delete(ids: readonly string[]): Promise<void> {
    await Promise.all(
      ids.map(async (id) => {
        await this.#api("DELETE", `/sandboxes/${encodeURIComponent(id)}`).catch((thrown: unknown) => {
          if (!(thrown instanceof ProviderRefusal && thrown.status === 404)) throw thrown;
        });
        this.#known.delete(id);
      }),
    );
  }

  async list(labels: readonly string[]): Promise<readonly ListedSandbox[]> {
    const found: ListedSandbox[] = [];
    for (let token: string | null = ""; token !== null; ) {
      const query = new URLSearchParams({
        limit: String(PAGE),
        ...(labels.length === 0 ? {} : { metadata: metadataFilter(labels) }),
        ...(token === "" ? {} : { nextToken: token }),
      });
      const response = await this.#request("GET", `/v2/sandboxes?${query.toString()}`);
      token = response.headers.get("x-next-token") || null;
      const page = await jsonOf(PROVIDER, response);
      for (const each of Array.isArray(page) ? page : []) {
        const started = isRecord(each) ? Date.parse(String(each.startedAt)) : Number.NaN;
        const listed = {
          id: textIn(PROVIDER, each, "sandboxID"),
          labels: labelsIn(isRecord(each) ? each.metadata : undefined),
          created_at: Number.isNaN(started) ? null : started,
        };
        if (labels.every((label) => listed.labels.includes(label))) found.push(listed);
      }
    }
    return found;
  }

  /** What a sandbox is reached with; of one that was made elsewhere it is asked for. */
  #envd(id: string): Promise<Envd> {
    const known = this.#known.get(id) ?? this.#api("GET", `/sandboxes/${encodeURIComponent(id)}`).then((answer) => this.#envdOf(id, answer));
    this.#known.set(id, known);
    known.catch(() => this.#known.delete(id));
    return known;
  }

  #envdOf(id: string, answer: unknown): Envd {
    const { domain = null, envdAccessToken, envdVersion } = isRecord(answer) ? answer : {};
    const own = typeof domain === "string" && domain !== "" ? domain : this.#domain;
    const url = this.#host.env.E2B_SANDBOX_URL?.replace(/\/+$/, "") || `https://${ENVD_PORT}-${id}.${own}`;
    const token: Record<string, string> = typeof envdAccessToken === "string" ? { "X-Access-Token": envdAccessToken } : {};
    const headers = { "E2b-Sandbox-Id": id, "E2b-Sandbox-Port": String(ENVD_PORT), ...token, ...userOf(typeof envdVersion === "string" ? envdVersion : "0") };
    return { url, headers, domain: own };
  }

  async #file(id: string, path: string, request: Pick<ProviderRequest, "method" | "body">): Promise<Response> {
    const { url, headers } = await this.#envd(id);
    return await ask(this.#host, PROVIDER, `${url}/files?${new URLSearchParams({ path }).toString()}`, { ...request, headers });
  }

  get #domain(): string {
    return this.#host.env.E2B_DOMAIN || DOMAIN;
  }

  async #api(method: ProviderRequest["method"], path: string, request: Partial<ProviderRequest> = {}): Promise<unknown> {
    return await jsonOf(PROVIDER, await this.#request(method, path, request));
  }

  async #request(method: ProviderRequest["method"], path: string, { headers = {}, ...rest }: Partial<ProviderRequest> = {}): Promise<Response> {
    const base = this.#host.env.E2B_API_URL?.replace(/\/+$/, "") || `https://api.${this.#domain}`;
    const key = await this.#host.key("E2B_API_KEY", new URL(base).hostname);
    if (key === null) throw new SandboxError("E2B_API_KEY is not set");
    return await ask(this.#host, PROVIDER, `${base}${path}`, {
      ...rest,
      method,
      headers: { "X-API-KEY": key, "Content-Type": "application/json", ...headers },
    });
  }
}

/** It is not there any more, and does not come. */
const isGone = (error: SandboxError): boolean =>
  error instanceof ProviderRefusal &&
  (error.status === 401 || error.status === 403 || error.status === 404 || (error.status === 502 && error.message.includes("was not found")));

/** Templates are E2B's own, or made beforehand with its tools; what an environment says of an image counts nothing there. */
function templateOf({ docker_image, gpu_count, advanced_configs: { template } }: SandboxSpec): string {
  if (gpu_count > 0) throw new SandboxCreationError("E2B has no sandboxes with GPUs");
  if (typeof template === "string" && template !== "") return template;
  if (docker_image === DEFAULT_IMAGE) return TEMPLATE;
  throw new SandboxCreationError(`E2B makes sandboxes from templates, not from the image ${docker_image}`, {
    hint: 'Build a template from it, and name it: advanced_configs {"template": "…"}.',
  });
}
