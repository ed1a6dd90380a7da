import type { TestProject } from "vitest/node";
import { startHeartbeatServer } from "./heartbeat-server.ts";
import { startModelServer } from "./model-server.ts";
import "./provided-context.ts";

/** Global set-up: one scripted model server and one monitor on loopback for tests that run in workerd; they speak to both over HTTP. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startModelServer();
  const monitor = await startHeartbeatServer();
  project.provide("modelServerUrl", server.controlUrl);
  project.provide("heartbeatServerUrl", monitor.url);
  return async () => {
    await server.close();
    await monitor.close();
  };
}
