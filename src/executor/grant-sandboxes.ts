import type { Grant } from "../../durable-objects/run/protocol.ts";
import type { SandboxName } from "../config/sandbox-names.ts";
import { accessProblem, allowedAccess } from "../environments/definition/access.ts";
import type { LoadContext } from "../environments/definition/definition.ts";
import { sandboxFor } from "../environments/sandbox/asked-for.ts";
import type { Sandbox } from "../environments/sandbox/sandbox.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { SandboxCreationError } from "../errors/rollout-errors.ts";
import { grantLabels, runLabels } from "../sandboxes/labels.ts";
import { removeLeftovers } from "../sandboxes/leftovers.ts";
import { RunSandbox } from "../sandboxes/run-sandbox.ts";
import { ticketOf } from "./keep-alive.ts";
import type { ExecutorPorts } from "./ports.ts";
import { teamPorts } from "./team-ports.ts";

/** What is missing for a driver was looked for when the run was made; what is missing by now is told by its first `create`. */
const UNKNOWN = { local: null, docker: null, prime: null, e2b: null, cloudflare: null } as const satisfies Record<SandboxName, null>;

type Told = (message: string) => void;

/** How long the end of a run waits for what is left over. Milliseconds: some requests to a provider that answers. */
const LAST_LOOK_MS = 20_000;

/** The sandboxes that the environment of one grant may have; `keys`: those that the environment has values of. */
export class GrantSandboxes {
  readonly #ports: ExecutorPorts;
  readonly #fetch: ExecutorPorts["fetch"];
  readonly #grant: Grant;
  readonly #told: Told;
  readonly #open = new Map<SandboxName, RunSandbox>();

  constructor(ports: ExecutorPorts, fetch: ExecutorPorts["fetch"], grant: Grant, told: Told) {
    this.#ports = ports;
    this.#fetch = fetch;
    this.#grant = grant;
    this.#told = told;
  }

  /** As `LoadContext.sandbox`, for an environment that has the values of `keys`. */
  for(keys: readonly string[]): NonNullable<LoadContext["sandbox"]> {
    const { config } = this.#grant;
    return (wanted) => {
      const denied = accessProblem({ id: config.env_id, access: ["sandbox"] }, allowedAccess(config));
      if (denied !== null) throw new EdgewiseError("access_not_allowed", denied.message, { hint: "A new run that allows it can be made." });
      const name = sandboxFor({ chosen: config.sandbox ?? null, usual: this.#ports.usualSandbox, problems: UNKNOWN }, wanted, keys);
      const known = this.#open.get(name) ?? this.#of(name);
      this.#open.set(name, known);
      return known;
    };
  }

  #of(name: SandboxName): RunSandbox {
    const { config } = this.#grant;
    return new RunSandbox({
      driver: this.#driver(name),
      labels: runLabels(config),
      labelled: (own) => grantLabels(config, this.#grant, own),
      first: () => this.#begin(name),
    });
  }

  /** Whoever comes after this executor knows where to look from here on. */
  async #begin(name: SandboxName): Promise<void> {
    const { config } = this.#grant;
    const run = teamPorts(this.#ports, config).run(config.run_id);
    const { kind } = await run.sandbox({ ...ticketOf(this.#grant), driver: name }).catch((cause: unknown) => {
      throw new SandboxCreationError(`the run cannot be told of its sandboxes: ${failureOf(cause).message}`, { cause });
    });
    if (kind !== "ok") throw new SandboxCreationError("the run has ended this executor's work");
  }

  #driver(name: SandboxName): Sandbox {
    return this.#ports.sandboxes(name, this.#grant.config, this.#fetch);
  }

  /** Ends what earlier grants left, where nothing that is gone on with may be among it. Never rejects. */
  async removeLeftovers(): Promise<void> {
    const { sandboxes, epoch, config } = this.#grant;
    if (sandboxes === undefined || sandboxes.turns) return;
    await Promise.all(
      sandboxes.drivers.map(async (name) => {
        try {
          const ended = await removeLeftovers(this.#driver(name), runLabels(config), { epoch, live: sandboxes.live }, this.#ports);
          if (ended > 0) this.#told(`sandboxes of ${name} that were left over are ended: ${ended}`);
        } catch (thrown) {
          this.#told(`sandboxes of ${name} that are left over could not be ended, and end by their own time limit: ${failureOf(thrown).message}`);
        }
      }),
    );
  }

  /** The same before the final files are written, and no longer than a moment: nobody looks again after that. */
  async removeLast(): Promise<void> {
    const over = new AbortController();
    const late = this.#ports.sleep(LAST_LOOK_MS, over.signal).then(
      () => this.#told("sandboxes that may be left over could not be looked for in time, and end by their own time limit"),
      () => undefined,
    );
    await Promise.race([this.removeLeftovers(), late]);
    over.abort();
  }
}
