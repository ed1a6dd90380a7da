import type { Env } from "../../../src/env.ts";
import { beatKeyIn } from "../../../src/monitors/beat-url.ts";
import { digestOfToken } from "../../../src/teams/token-text.ts";
import type { RunReport } from "../../monitor/monitor-control.ts";
import { monitorStub } from "../../stubs.ts";
import type { Heartbeat, HeartbeatOutcome } from "./heartbeat.ts";
import { HeartbeatSender } from "./heartbeat-sender.ts";
import type { ReportOutcome } from "./monitor-report.ts";

type Fetch = ConstructorParameters<typeof HeartbeatSender>[0];

/** Those who are told that one run is alive: what its `heartbeat_url` names, and its monitor. */
export class Watchers {
  readonly #env: Env;
  readonly #sender: HeartbeatSender;

  constructor(env: Env, send: Fetch) {
    this.#env = env;
    this.#sender = new HeartbeatSender(send);
  }

  /** An address of this service's own is no request: a Worker cannot call itself. Null when it was skipped. */
  async heartbeat(url: string, heartbeat: Heartbeat): Promise<HeartbeatOutcome | null> {
    return (await this.#isOwn(url, heartbeat === "last")) ? { heartbeat, problem: null } : this.#sender.send(url, heartbeat);
  }

  /** What the monitor made of it; null when it cannot be reached. */
  async report(id: string, report: RunReport): Promise<ReportOutcome | null> {
    const monitor = monitorStub(this.#env, id);
    if (monitor === null) return { kind: report.kind, outcome: "gone" };
    try {
      return { kind: report.kind, outcome: (await monitor.report(report)) ? "taken" : "gone" };
    } catch (thrown) {
      console.warn(`monitor ${id}: not reached: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      return null;
    }
  }

  /** Whether a monitor of this service has this address, which says it all: nobody else's could be the same. It has heard the beat then. */
  async #isOwn(url: string, done: boolean): Promise<boolean> {
    const key = beatKeyIn(url);
    const monitor = key === null ? null : monitorStub(this.#env, key.id);
    if (key === null || monitor === null) return false;
    try {
      return await monitor.beat({ secret_digest: await digestOfToken(key.secret), done });
    } catch {
      return false;
    }
  }
}
