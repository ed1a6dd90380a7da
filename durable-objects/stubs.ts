import type { DispatcherControl } from "../durable-objects/dispatcher/dispatcher-control.ts";
import type { RegistryControl } from "../durable-objects/registry/registry-control.ts";
import type { RunControl } from "../durable-objects/run/control.ts";
import type { RunExecution } from "../durable-objects/run/protocol.ts";
import type { Env } from "../src/env.ts";
import { count } from "../src/operations.ts";

/** Registry and Dispatcher are single objects. */
export const REGISTRY_NAME = "registry";
export const DISPATCHER_NAME = "dispatcher";

/** A stub for one conversation with a Run: after an exception take a new one, the old one stays broken. */
export const runStub = (env: Env, runId: string): RunControl & RunExecution => counted<RunControl & RunExecution>(env.RUN.getByName(runId));
export const registryStub = (env: Env): RegistryControl => counted<RegistryControl>(env.REGISTRY.getByName(REGISTRY_NAME));
export const dispatcherStub = (env: Env): DispatcherControl => counted<DispatcherControl>(env.DISPATCHER.getByName(DISPATCHER_NAME));

/** Every call on the stub is one billed request. */
export function counted<Control extends object>(stub: object): Control {
  return new Proxy(stub as Control, {
    get(target, method) {
      const call: unknown = Reflect.get(target, method);
      if (typeof call !== "function") return call;
      return (...args: unknown[]) => {
        count("do_requests");
        return Reflect.apply(call, target, args) as unknown;
      };
    },
  });
}
