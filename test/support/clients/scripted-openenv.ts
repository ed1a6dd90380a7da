import type { Json, JsonObject } from "../../../src/config/plan/run-config.ts";
import type { OpenEnvResult, OpenEnvServer } from "../../../src/environments/openenv/openenv-server.ts";

export interface OpenEnvScript {
  readonly schema: JsonObject;
  readonly reset?: (seed: number) => Json;
  readonly step?: (action: JsonObject) => OpenEnvResult | Error;
  readonly tools?: JsonObject[];
  /** Looks before it is healthy, and resets that fail first. */
  readonly unhealthy?: number;
  readonly failingResets?: number;
}

/** An OpenEnv server that follows a script; `actions` and `sessions` are what it was asked. */
export class ScriptedOpenEnv implements OpenEnvServer {
  readonly actions: JsonObject[] = [];
  readonly sessions = { opened: 0, closed: 0 };
  readonly #script: OpenEnvScript;
  #unhealthy: number;
  #failing: number;

  constructor(script: OpenEnvScript) {
    this.#script = script;
    this.#unhealthy = script.unhealthy ?? 0;
    this.#failing = script.failingResets ?? 0;
  }

  async healthy(): Promise<boolean> {
    if (this.#unhealthy-- > 0) throw new Error("connection refused");
    return true;
  }

  async actionSchema(): Promise<JsonObject> {
    return this.#script.schema;
  }

  async session() {
    this.sessions.opened++;
    return {
      reset: async (seed: number): Promise<OpenEnvResult> => {
        if (this.#failing-- > 0) throw new Error("not now");
        return { observation: this.#script.reset?.(seed) ?? `start ${seed}`, reward: null, done: false };
      },
      step: async (action: JsonObject): Promise<OpenEnvResult> => {
        this.actions.push(action);
        const result = this.#script.step?.(action) ?? { observation: "next", reward: 0, done: false };
        if (result instanceof Error) throw result;
        return result;
      },
      listTools: async () => this.#script.tools ?? [],
      close: async () => void this.sessions.closed++,
    };
  }
}
