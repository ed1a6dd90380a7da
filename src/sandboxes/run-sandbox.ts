import { SandboxError } from "../errors/rollout-errors.ts";
import type { CommandOptions, CommandResult, JobOptions, JobStatus, ListedSandbox, Sandbox, SandboxSpec } from "../environments/sandbox/sandbox.ts";

/** What the sandboxes of one run are to the service. */
export interface RunSandboxOptions {
  readonly driver: Sandbox;
  /** That all sandboxes of the run have. */
  readonly labels: readonly string[];
  /** Those of a new one, with what the environment asks for beside them. */
  readonly labelled: (own: readonly string[]) => readonly string[];
  /** Done once, before there is a first one. */
  readonly first: () => Promise<void>;
}

/** A driver as one run has it: what it makes is labelled, and it knows the sandboxes of this run alone, by whichever executor they were made. */
export class RunSandbox implements Sandbox {
  readonly access: Sandbox["access"];
  readonly #of: RunSandboxOptions;
  readonly #known = new Set<string>();
  #first: Promise<void> | null = null;

  constructor(options: RunSandboxOptions) {
    this.#of = options;
    this.access = options.driver.access;
  }

  async create(spec: SandboxSpec, signal?: AbortSignal | null): Promise<string> {
    this.#first ??= this.#begin();
    await this.#first;
    const id = await this.#of.driver.create({ ...spec, labels: this.#of.labelled(spec.labels) }, signal);
    this.#known.add(id);
    return id;
  }

  async ready(id: string, signal?: AbortSignal | null): Promise<void> {
    return (await this.#having(id)).ready(id, signal);
  }

  async execute(id: string, command: string, options: CommandOptions): Promise<CommandResult> {
    return (await this.#having(id)).execute(id, command, options);
  }

  async start(id: string, command: string, options?: JobOptions): Promise<string> {
    return (await this.#having(id)).start(id, command, options);
  }

  async job(id: string, job: string): Promise<JobStatus> {
    return (await this.#having(id)).job(id, job);
  }

  async stop(id: string, job: string): Promise<void> {
    return (await this.#having(id)).stop(id, job);
  }

  async writeFile(id: string, path: string, content: Uint8Array): Promise<void> {
    return (await this.#having(id)).writeFile(id, path, content);
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    return (await this.#having(id)).readFile(id, path);
  }

  async expose(id: string, port: number): Promise<string> {
    return (await this.#having(id)).expose(id, port);
  }

  async delete(ids: readonly string[]): Promise<void> {
    const own = ids.filter((id) => this.#known.has(id));
    const others = ids.length === own.length ? [] : (await this.list([])).map(({ id }) => id).filter((id) => ids.includes(id) && !own.includes(id));
    // What is not there of the run counts as ended.
    if (own.length + others.length > 0) await this.#of.driver.delete([...own, ...others]);
    for (const id of own) this.#known.delete(id);
  }

  /** Of the run alone; none where the provider knows no labels. */
  async list(labels: readonly string[]): Promise<readonly ListedSandbox[]> {
    return (await this.#of.driver.list?.([...this.#of.labels, ...labels])) ?? [];
  }

  /** The driver, for a sandbox of this run. Throws a `SandboxError` for any other. */
  async #having(id: string): Promise<Sandbox> {
    if (!this.#known.has(id)) {
      // A rollout that was begun under another grant names the one that it has.
      if (!(await this.list([])).some((listed) => listed.id === id)) throw new SandboxError(`there is no sandbox ${id.slice(0, 200)} of this run`);
      this.#known.add(id);
    }
    return this.#of.driver;
  }

  async #begin(): Promise<void> {
    try {
      await this.#of.first();
    } catch (thrown) {
      this.#first = null;
      throw thrown;
    }
  }
}
