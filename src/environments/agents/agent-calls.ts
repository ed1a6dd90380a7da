import { parseShallow } from "../../config/json-depth.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { RELAY_ROUTES, type RelayReply, type RelayRoute } from "../../rollouts/types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { quoted } from "../sandbox/shell-words.ts";
import { AGENT_PROXY } from "./agent-proxy.ts";

/** A request that an agent has made, and waits for the answer of. */
export interface AgentCall {
  /** Its number, from 1. */
  readonly call: number;
  readonly route: RelayRoute;
  readonly body: JsonObject;
}

/** How long one command waits for the next call, in seconds; and what more it may take. */
const WAIT = 20;
const SLACK = 30;
const STARTED = 30;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The endpoint of one rollout's agent, inside of its sandbox. */
export class AgentCalls {
  readonly #sandbox: Sandbox;
  readonly #id: string;
  readonly #folder: string;
  readonly #signal: AbortSignal | null;
  #seen = 0;
  /** An answer that waits to be put in its place, with the next look. */
  #written: number | null = null;

  constructor(sandbox: Sandbox, id: string, folder: string, signal: AbortSignal | null) {
    this.#sandbox = sandbox;
    this.#id = id;
    this.#folder = folder;
    this.#signal = signal;
  }

  /** Starts it; gives its port, on the sandbox's own loopback. */
  async serve(variables: Readonly<Record<string, string>>): Promise<number> {
    const folder = quoted(this.#folder);
    await this.#run(`mkdir -p ${folder}/calls ${folder}/answers`, STARTED);
    await this.#sandbox.writeFile(this.#id, `${this.#folder}/proxy.py`, utf8(AGENT_PROXY));
    await this.#sandbox.start(this.#id, `${exports(variables)}exec python3 -I ${folder}/proxy.py serve ${folder} 2> ${folder}/proxy.log`);
    const port = Number(await this.#run(`i=0; while [ ! -s ${folder}/port ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done; cat ${folder}/port`, STARTED));
    if (Number.isSafeInteger(port) && port > 0) return port;
    const log = await this.#run(`tail -c 500 ${folder}/proxy.log`, STARTED).catch(() => "");
    throw new SandboxError(`the agent's endpoint did not start in the sandbox, which needs python3: ${log.trim()}`);
  }

  /** Starts the agent's command; gives the job's name. */
  async begin(command: string, variables: Readonly<Record<string, string>>, workingDir: string | null): Promise<string> {
    // In a shell of its own: whatever ends the command, its end is noted.
    const noted = `${exports(variables)}sh -c ${quoted(command)}; code=$?; : > ${quoted(`${this.#folder}/ended`)}; exit $code`;
    return await this.#sandbox.start(this.#id, noted, { workingDir });
  }

  /** The next call, in the order in which they came; null once the agent has ended. */
  async next(): Promise<AgentCall | null> {
    for (;;) {
      const folder = quoted(this.#folder);
      const put = this.#written === null ? "" : `mv ${folder}/answers/${this.#written}.part ${folder}/answers/${this.#written} && `;
      const asked = performance.now();
      const said = await this.#run(`${put}python3 -I ${folder}/proxy.py next ${folder} ${this.#seen} ${WAIT}`, WAIT + SLACK);
      this.#written = null;
      const seen = this.#read(said);
      if (seen.ended === true) return null;
      if (seen.call === undefined) {
        // The proxy says so after `WAIT`. One in its place that does so at once would have the sandbox asked without end.
        if (performance.now() - asked < (WAIT * 1_000) / 2) throw new SandboxError("the agent's endpoint does not wait for the agent's next call");
        continue;
      }
      this.#seen += 1;
      const whole = typeof seen.path === "string" ? this.#read(new TextDecoder().decode(await this.#sandbox.readFile(this.#id, seen.path))) : seen;
      const { call, route, body } = whole;
      if (call !== this.#seen || !RELAY_ROUTES.includes(route as RelayRoute) || typeof body !== "object" || body === null || Array.isArray(body))
        throw new SandboxError("the agent's endpoint says what is no call");
      return { call, route: route as RelayRoute, body };
    }
  }

  /** Answers a call; the agent has it with the next look. */
  async answer({ call }: AgentCall, { status, content_type, text }: RelayReply): Promise<void> {
    await this.#sandbox.writeFile(this.#id, `${this.#folder}/answers/${call}.part`, utf8(JSON.stringify({ status, content_type, text })));
    this.#written = call;
  }

  #read(text: string): JsonObject {
    let said: unknown;
    try {
      said = parseShallow(text);
    } catch (cause) {
      throw new SandboxError("the agent's endpoint cannot be read", { cause });
    }
    // The agent may have put something else in the endpoint's place.
    if (typeof said !== "object" || said === null || Array.isArray(said)) throw new SandboxError("the agent's endpoint says what is no call");
    return said as JsonObject;
  }

  async #run(command: string, timeoutSeconds: number): Promise<string> {
    const { stdout, stderr, exit_code } = await this.#sandbox.execute(this.#id, command, { timeoutSeconds, signal: this.#signal });
    if (exit_code !== 0) throw new SandboxError(`the agent's endpoint: ${stderr.trim().slice(-500) || `status ${exit_code}`}`);
    return stdout;
  }
}

const exports = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}; `)
    .join("");
