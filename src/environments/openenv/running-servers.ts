import type { Sleep } from "../../clients/client.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { SandboxKeeper } from "../sandbox/sandbox-keeper.ts";
import type { Sandbox, SandboxSpec } from "../sandbox/sandbox.ts";
import { sandboxSpec } from "../sandbox/sandbox-spec.ts";
import { type Contract, looksLikeMcp, type OpenEnvBuild, type OpenEnvConnect, type OpenEnvServer } from "./openenv-server.ts";

export interface RunningServer {
  readonly server: OpenEnvServer;
  readonly schema: JsonObject;
  readonly contract: Contract;
  /** Lets go of it. */
  end(): Promise<void>;
}

/** Where servers come from. */
export interface RunningServers {
  /** One that answers. Throws an `InfraError`. */
  open(signal: AbortSignal | null): Promise<RunningServer>;
  /** Ends what is left. */
  closeAll(): Promise<void>;
}

export interface Startup {
  readonly sleep: Sleep;
  readonly timeoutSeconds: number;
  readonly pollSeconds: number;
}

/** A server that runs already, the same for all rollouts. */
export class ServerAtAddress implements RunningServers {
  readonly #server: () => OpenEnvServer;
  readonly #startup: Startup;
  #schema: JsonObject | null = null;

  constructor(url: string, connect: OpenEnvConnect, startup: Startup) {
    this.#server = () => connect(url);
    this.#startup = startup;
  }

  async open(signal: AbortSignal | null): Promise<RunningServer> {
    const server = this.#server();
    await awaitHealth(server, this.#startup, signal);
    this.#schema ??= await server.actionSchema();
    return { server, schema: this.#schema, contract: looksLikeMcp(this.#schema) ? "mcp" : "gym", end: async () => undefined };
  }

  async closeAll(): Promise<void> {}
}

/** A server of its own for each rollout, out of the project's image. */
export class ServersInSandboxes implements RunningServers {
  readonly #sandbox: Sandbox;
  readonly #build: OpenEnvBuild;
  readonly #connect: OpenEnvConnect;
  readonly #startup: Startup;
  readonly #keeper: SandboxKeeper;

  constructor(sandbox: Sandbox, build: OpenEnvBuild, connect: OpenEnvConnect, startup: Startup) {
    this.#sandbox = sandbox;
    this.#build = build;
    this.#connect = connect;
    this.#startup = startup;
    this.#keeper = new SandboxKeeper(sandbox, startup.sleep);
  }

  async open(signal: AbortSignal | null): Promise<RunningServer> {
    const { contract, port } = this.#build;
    const id = await this.#keeper.open(specOf(this.#build), signal);
    try {
      await this.#sandbox.ready(id, signal);
      const server = this.#connect(await this.#sandbox.expose(id, port));
      await awaitHealth(server, this.#startup, signal);
      const schema = await server.actionSchema();
      if (looksLikeMcp(schema) !== (contract === "mcp")) throw new SandboxError(`the project's contract is ${contract}, and its action schema is not`);
      return { server, schema, contract, end: () => this.#keeper.close(id) };
    } catch (thrown) {
      await this.#keeper.close(id);
      throw thrown;
    }
  }

  async closeAll(): Promise<void> {
    await this.#keeper.closeAll();
  }
}

async function awaitHealth(server: OpenEnvServer, { sleep, timeoutSeconds, pollSeconds }: Startup, signal: AbortSignal | null): Promise<void> {
  for (let waited = 0; ; waited += pollSeconds) {
    // A server that is starting refuses connections.
    if (await server.healthy().catch(() => false)) return;
    if (waited >= timeoutSeconds) throw new SandboxNotReadyError(`the OpenEnv server does not answer /health after ${timeoutSeconds} s`);
    await sleep(pollSeconds * 1_000, signal);
  }
}

const specOf = ({ image, start_command }: OpenEnvBuild): SandboxSpec =>
  sandboxSpec({
    sandboxName: "openenv-env",
    dockerImage: image,
    startCommand: start_command,
    cpuCores: 2,
    memoryGb: 4,
    diskSizeGb: 10,
    environmentVars: { ENABLE_WEB_INTERFACE: "false" },
  });
