import { maskJson, masked } from "../../errors/masking.ts";
import type { AdoptCall, CommitCall } from "../../../durable-objects/run/protocol.ts";
import type { PlacedRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import type { RunStub } from "../ports.ts";

/** A Run that is told no key: notes, failures, summaries and tools of an environment all reach it through these calls. */
export function maskedRun(run: RunStub): RunStub {
  return new Proxy(run, {
    get(_, method) {
      const call: unknown = Reflect.get(run, method);
      if (typeof call !== "function") return call;
      if (method === "commit")
        return ({ units, vitals, ...commit }: CommitCall) =>
          run.commit({ ...commit, units: maskJson(units), ...(vitals === undefined ? {} : { vitals: masked(vitals) }) });
      if (method === "adopt") return (adoption: AdoptCall) => run.adopt({ ...adoption, units: maskJson(adoption.units) });
      if (method === "placed") return (placed: PlacedRequest) => run.placed({ ...placed, units: maskJson(placed.units) });
      return (...args: unknown[]): unknown => Reflect.apply(call, run, args.map(masked));
    },
  });
}
