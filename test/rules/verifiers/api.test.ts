import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as edgewise from "../../../src/index.ts";
import { CLASSES, FUNCTIONS, TYPES } from "../../support/environments/verifiers-api.ts";

const text = (path: string): string => readFileSync(join(import.meta.dirname, "../../..", path), "utf8");

/** Types leave nothing behind at run time: the names are read from the source, and the compiler sees to it that they are there. */
const exported = new Set([
  ...[...text("src/index.ts").matchAll(/\btype (?:\w+ as )?(\w+)/g)].map(([, name = ""]) => name),
  ...[...text("src/index.ts").matchAll(/export type \{([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.split(" as ").at(-1)?.trim() ?? ""),
  ),
  ...[...text("src/rollouts/types.ts").matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = ""]) => name),
]);

/** Names in the first column of the table that says what cannot apply. */
const explained = new Set(
  (text("docs/verifiers-compatibility.md").split("## Names of the API reference")[1] ?? "")
    .split("\n## ")[0]
    ?.split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)),
);

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const values = edgewise as Readonly<Record<string, unknown>>;

describe("every name of the API reference is exported, or the compatibility table says why not", () => {
  it.each(TYPES)("%s", (name) => {
    expect(exported.has(name) || explained.has(name)).toBe(true);
  });

  it.each(FUNCTIONS)("%s", (name) => {
    expect(typeof values[camel(name)] === "function" || explained.has(name)).toBe(true);
  });

  it.each(Object.keys(CLASSES))("%s, with its methods", (name) => {
    const found = values[name] as { readonly prototype: object } | undefined;
    if (found === undefined) return expect(explained).toContain(name);
    const missing = (CLASSES[name] ?? []).filter((method) => !(camel(method) in found.prototype) && !(camel(method) in found) && !explained.has(method));
    // Abstract methods leave nothing behind either; the compiler checks that subclasses have them.
    const abstract = [
      ...text("src/environments/kinds/multi-turn-env.ts")
        .concat(text("src/environments/kinds/environment.ts"), text("src/environments/kinds/stateful-tool-env.ts"))
        .matchAll(/abstract (?:override )?(\w+)\(/g),
    ].map(([, method = ""]) => method);
    expect(missing.filter((method) => !abstract.includes(camel(method)))).toEqual([]);
  });

  it("and no explanation is left of what is there", () => {
    const stale = [...explained].filter((name) => exported.has(name) || name in values || camel(name) in values);
    expect(stale).toEqual([]);
  });
});
