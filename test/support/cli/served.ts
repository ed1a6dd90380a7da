/** `edgewise serve` in a workplace, and its door: one deployment after another on the same state. */
import { type CliProcess, until, type Workplace } from "./cli-process.ts";
import { kill } from "./local-stack.ts";

export interface ServedRun {
  readonly status: string;
  readonly error_message: string | null;
  readonly edgewise: {
    readonly settled: boolean;
    readonly suspended: boolean;
    /** Grants that live. */
    readonly executors: number;
    readonly done_rollouts: number;
    readonly env_digest: string;
    readonly waiting_for?: { readonly env_digest: string; readonly found: string };
  };
}

export class Served {
  readonly #place: Workplace;
  #server: CliProcess | null = null;
  #url = "";

  constructor(place: Workplace) {
    this.#place = place;
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#url;
  }

  /** `command`: of another build, which takes the place of the one that was ended. */
  async start(command: string | null = null, env: Readonly<Record<string, string>> = {}): Promise<void> {
    if (command !== null) this.#place.command = command;
    this.#server = this.#place.start(["serve", "--port", "0"], env);
    await this.#server.says(/Edgewise listens on \S+/);
    this.#url = /Edgewise listens on (\S+)/.exec(this.#server.stdout() + this.#server.stderr())?.[1]?.replace(/\/$/, "") ?? "";
  }

  /** Whether it has told this at its terminal. */
  said(text: string): boolean {
    return ((this.#server?.stdout() ?? "") + (this.#server?.stderr() ?? "")).includes(text);
  }

  async end(how: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (this.#server === null) return;
    if (how === "SIGKILL") return void (await (await kill(this.#place, this.#server, "stack")).over);
    this.#server.child.kill("SIGTERM");
    await this.#server.ended;
  }

  /** Posts `body`, or gets. Throws for every refusal. */
  async ask(path: string, body?: object): Promise<Response> {
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${this.#url}/api/v1${path}`, body === undefined ? {} : post);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  /** Id of a new run of reverse-text. */
  async create(base_url: string, config: object): Promise<string> {
    const created = await this.ask("/hosted-evaluations", {
      environment_ids: ["reverse-text"],
      inference_model: "scripted",
      eval_config: { api_base_url: base_url, ...config },
    });
    return ((await created.json()) as { evaluation_id: string }).evaluation_id;
  }

  async file(id: string, name: string): Promise<string> {
    return (await this.ask(`/evaluations/${id}/files/${name}`)).text();
  }

  async run(id: string): Promise<ServedRun> {
    return (await (await this.ask(`/evaluations/${id}`)).json()) as ServedRun;
  }

  async when(id: string, holds: (run: ServedRun) => boolean, what: string, ms = 40_000): Promise<ServedRun> {
    let last = await this.run(id);
    await until(
      async () => {
        last = await this.run(id);
        return holds(last);
      },
      ms,
      () => `${what}: ${JSON.stringify(last)}`,
    );
    return last;
  }
}
