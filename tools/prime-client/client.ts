/** The installed `prime` client in a home and a folder of its own, pointed at a service of this machine. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ScriptInput } from "../../test/support/model-server/model-script.ts";
import type { ModelServer } from "../../test/support/model-server/model-server.ts";

/** The longest that one call of the client may take. */
const CALL_MS = 90_000;

export interface Said {
  readonly code: number | null;
  /** Standard output and error as they came. */
  readonly text: string;
}

export interface CallOptions {
  readonly key?: string;
  /** Further variables, such as PRIME_TEAM_ID. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ctrl-C after this text. */
  readonly interruptAt?: string;
}

export interface ClientOptions {
  /** The `prime` program; `python` is beside it. */
  readonly prime: string;
  /** Where the client believes the platform to be. */
  readonly url: string;
  readonly token: string;
  readonly model: ModelServer;
}

export class PrimeClient {
  readonly folder = mkdtempSync(join(tmpdir(), "prime-check-"));
  readonly model: ModelServer;
  readonly url: string;
  /** How the model server behaves at present. */
  script: ScriptInput = {};
  readonly home = mkdtempSync(join(tmpdir(), "prime-home-"));
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
    this.model = options.model;
    this.url = options.url;
  }

  play(script: ScriptInput): void {
    this.script = script;
    this.model.setScript(script);
  }

  prime(args: readonly string[], options: CallOptions = {}): Promise<Said> {
    return this.call(this.options.prime, ["--plain", ...args], options);
  }

  /** `eval run ENV --hosted` against the scripted model server. */
  run(env: string, more: readonly string[] = [], options: CallOptions = {}): Promise<Said> {
    return this.prime(["eval", "run", env, "--hosted", "-m", "scripted", "-b", this.model.url, ...more], options);
  }

  python(args: readonly string[], options: CallOptions = {}): Promise<Said> {
    return this.beside("python", args, options);
  }

  /** Another program of the same virtual environment. */
  beside(program: string, args: readonly string[], options: CallOptions = {}): Promise<Said> {
    return this.call(join(dirname(this.options.prime), program), args, options);
  }

  write(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text);
    return name;
  }

  /** The service itself, past the client. */
  async ask(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.options.token}`, ...init.headers };
    return (await (await fetch(`${this.url}/api/v1${path}`, { ...init, headers })).json()) as Record<string, unknown>;
  }

  /** As a browser whose user typed the token into the form. */
  async browse(path: string): Promise<Response> {
    const { origin } = new URL(this.url);
    const body = new URLSearchParams({ token: this.options.token, to: path });
    const signedIn = await fetch(`${this.url}/sign-in`, { method: "POST", redirect: "manual", headers: { origin }, body });
    const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
    return fetch(this.url + (signedIn.headers.get("location") ?? ""), { headers: { cookie } });
  }

  async untilStatus(id: string, wanted: (status: string) => boolean, ms = 30_000): Promise<string> {
    for (const deadline = Date.now() + ms; ; await sleep(100)) {
      const { status } = await this.ask(`/evaluations/${id}`);
      if (wanted(String(status))) return String(status);
      if (Date.now() > deadline) throw new Error(`run ${id} is ${String(status)} after ${ms} ms`);
    }
  }

  remove(): void {
    for (const folder of [this.folder, this.home]) rmSync(folder, { recursive: true, force: true });
  }

  private call(program: string, args: readonly string[], { key, env, interruptAt }: CallOptions): Promise<Said> {
    const { token, url } = this.options;
    const child = spawn(program, args, {
      cwd: this.folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        HOME: this.home,
        // Lines are cut at the width of the terminal.
        COLUMNS: "200",
        PRIME_DISABLE_VERSION_CHECK: "1",
        PRIME_API_BASE_URL: url,
        PRIME_FRONTEND_URL: url,
        // Its default is the vendor's, whatever the base is.
        PRIME_TRACES_URL: url,
        PRIME_API_KEY: key ?? token,
        MODEL_URL: this.model.url,
        ...env,
      },
    });
    let text = "";
    let interrupted = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (interruptAt === undefined || interrupted || !text.includes(interruptAt)) return;
        interrupted = true;
        child.kill("SIGINT");
      });
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`no end after ${CALL_MS} ms: ${args.join(" ")}\n${text}`));
      }, CALL_MS);
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(timer);
        resolve({ code, text });
      });
    });
  }
}
