import type { Browser, BrowserContextOptions } from "playwright-core";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { type CliProcess, until, Workplace } from "../cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { launchBrowser, type OpenedDashboard, openDashboard } from "./dashboard-browser.ts";

/** How long anything in these tests may take before it is a fault. */
export const PATIENCE_MS = 60_000;

/** What the console says of a service that is gone. */
export const GONE = /ERR_|Failed to load resource/;

/** What of a creation a test wants other than usual; `body` and `config` go into the request as they are. */
export interface Wish {
  readonly name: string;
  readonly environment?: string;
  readonly examples?: number;
  readonly rollouts?: number;
  readonly body?: object;
  readonly config?: object;
}

/** A service of `edgewise serve`, a scripted model that answers its runs, and a browser: one for all tests of a file. */
export class DashboardPlace {
  readonly workplace: Workplace;
  readonly model: ModelServer;
  readonly browser: Browser;
  serving: CliProcess;
  /** Without a slash at its end. */
  service = "";
  #opened: OpenedDashboard[] = [];

  private constructor(workplace: Workplace, model: ModelServer, browser: Browser, serving: CliProcess) {
    this.workplace = workplace;
    this.model = model;
    this.browser = browser;
    this.serving = serving;
  }

  /** `browserPath`: of `findBrowser`; `env`: variables of the service beside the usual ones. */
  static async start(browserPath: string, env: Readonly<Record<string, string>> = {}): Promise<DashboardPlace> {
    const workplace = new Workplace();
    const model = await startModelServer({ answer: "reverse" });
    const place = new DashboardPlace(workplace, model, await launchBrowser(browserPath), workplace.start(["serve", "--port", "0"], env));
    await place.#listens();
    return place;
  }

  /** Ends the service as a lost machine does. Its port: for `serveAgain`. */
  async kill(): Promise<number> {
    const port = Number(new URL(this.service).port);
    process.kill(-this.serving.pid, "SIGKILL");
    await this.serving.ended;
    return port;
  }

  async serveAgain(port: number): Promise<void> {
    this.serving = this.workplace.start(["serve", "--port", String(port)]);
    await this.#listens();
  }

  async #listens(): Promise<void> {
    await this.serving.says("Edgewise listens on", PATIENCE_MS);
    this.service = `http://127.0.0.1:${readLock(this.workplace.state)?.port}`;
  }

  /** The JSON that the HTTP API answers. Throws where it refuses. `path`: below `/api/v1`. */
  async ask<T>(path: string, { method = "GET", body }: { readonly method?: string; readonly body?: object } = {}): Promise<T> {
    const init = body === undefined ? { method } : { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${this.service}/api/v1${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** The id of a run that begins. */
  async create({ name, environment = "reverse-text", examples = 2, rollouts = 2, body = {}, config = {} }: Wish): Promise<string> {
    const { evaluation_id } = await this.ask<{ evaluation_id: string }>("/hosted-evaluations", {
      method: "POST",
      body: {
        ...{ environment_ids: [environment], inference_model: "scripted", name, ...body },
        eval_config: {
          ...{ num_examples: examples, rollouts_per_example: rollouts, max_concurrent: 2 },
          ...{ api_base_url: this.model.url, api_key_var: "PRIME_API_KEY", ...config },
        },
      },
    });
    return evaluation_id;
  }

  settled(id: string): Promise<void> {
    return until(
      async () => (await this.ask<{ edgewise: { settled: boolean } }>(`/evaluations/${id}`)).edgewise.settled,
      PATIENCE_MS,
      () => `run ${id} to settle`,
    );
  }

  /** `page`: below `/dashboard/`, with its query. `expected`: messages of the console that the test brings about itself. */
  async open(page = "", options: BrowserContextOptions = {}, expected?: RegExp): Promise<OpenedDashboard> {
    const dashboard = await openDashboard(this.browser, `${this.service}/dashboard/${page}`, options, expected);
    this.#opened.push(dashboard);
    return dashboard;
  }

  /** Does `work`, closes what it opened, and answers with what went wrong in those pages unseen: what was refused, failed, or asked of others. */
  async faultsOf(work: () => Promise<void>): Promise<readonly string[]> {
    this.#opened = [];
    try {
      await work();
      return this.#opened.flatMap(({ faults }) => faults);
    } finally {
      for (const each of this.#opened) await each.close();
    }
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.workplace.remove();
    await this.model.close();
  }
}
