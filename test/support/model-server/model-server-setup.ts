import type { TestProject } from "vitest/node";
import { linkedServer } from "../environment-http/linked-server.ts";
import { startHeartbeatServer } from "./heartbeat-server.ts";
import { startModelServer } from "./model-server.ts";
import "./provided-context.ts";

/** Global set-up: one scripted model server, one monitor and one environment's server on loopback for tests that run in workerd; they speak to all of them over HTTP. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startModelServer();
  const monitor = await startHeartbeatServer();
  const linked = await linkedServer();
  project.provide("linkedServer", { url: linked.url, token: linked.token });
  project.provide("modelServerUrl", server.controlUrl);
  project.provide("heartbeatServerUrl", monitor.url);
  return async () => {
    await server.close();
    await monitor.close();
    await linked.kill();
  };
}
