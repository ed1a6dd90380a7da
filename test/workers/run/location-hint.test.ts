import { describe, expect, it } from "vitest";
import { LOCATION_HINTS } from "../../../durable-objects/location-hint.ts";
import { directoryStub, dispatcherStub, registryStub, runStub } from "../../../durable-objects/stubs.ts";
import type { Env } from "../../../src/env.ts";

/** With what each namespace was asked for a stub: name of the binding, name of the object, options. */
function askedWith(vars: { readonly LOCATION_HINT?: string }): unknown[][] {
  const asked: unknown[][] = [];
  const namespace = (binding: string) => ({
    getByName: (name: string, options: unknown) => {
      asked.push([binding, name, options]);
      return {};
    },
  });
  const bindings = Object.fromEntries(["RUN", "REGISTRY", "DISPATCHER", "DIRECTORY"].map((name) => [name, namespace(name)]));
  const env = { ...bindings, ...vars } as unknown as Env;
  runStub(env, "r1");
  registryStub(env, "acme");
  dispatcherStub(env);
  directoryStub(env);
  return asked;
}

describe("LOCATION_HINT", () => {
  it("goes with every stub of every kind of object", () => {
    const asked = askedWith({ LOCATION_HINT: "weur" });
    expect(asked.map(([binding]) => binding)).toEqual(["RUN", "REGISTRY", "DISPATCHER", "DIRECTORY"]);
    expect(asked.map(([, , options]) => options)).toEqual(Array(4).fill({ locationHint: "weur" }));
  });

  it.each([{}, { LOCATION_HINT: "" }])("is none where it is not set: %j", (vars) => {
    expect(askedWith(vars).map(([, , options]) => options)).toEqual(Array(4).fill(undefined));
  });

  it.each(LOCATION_HINTS)("may be %s", (hint) => {
    expect(askedWith({ LOCATION_HINT: hint })[0]?.[2]).toEqual({ locationHint: hint });
  });

  it.each(["us-east-1", "WEUR", " weur"])("is refused with its name and what is allowed where the platform knows no %j", (hint) => {
    expect(() => askedWith({ LOCATION_HINT: hint })).toThrow(
      `LOCATION_HINT must be one of wnam, enam, sam, weur, eeur, apac, apac-ne, apac-se, oc, afr, me, or be left out; it is ${JSON.stringify(hint)}.`,
    );
  });
});
