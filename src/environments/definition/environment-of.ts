import { knowSources } from "../../errors/own-frames.ts";
import type { EnvironmentDefinition } from "./definition.ts";

/** What the code of a module was made from, so that its errors name places there. */
export interface ModuleSources {
  /** Last part of the module's address, unique in this host. */
  readonly script: string;
  /** Its source map, as JSON. */
  readonly map: string;
}

const isDefinition = (value: unknown): value is EnvironmentDefinition =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as EnvironmentDefinition).id === "string" &&
  typeof (value as EnvironmentDefinition).load === "function";

/**
 * The environment that a module exports: its default, or the only export made by `defineEnvironment`. `source` says what its code
 * was, for the environment's digest. Throws `TypeError` for none and for several.
 */
export function environmentOf(module: Readonly<Record<string, unknown>>, source: string, sources: ModuleSources | null = null): EnvironmentDefinition {
  if (sources !== null) knowSources(sources.script, sources.map);
  const found = isDefinition(module.default) ? [module.default] : Object.values(module).filter(isDefinition);
  const [definition, another] = found;
  if (definition === undefined) throw new TypeError("the module exports no environment: write `export default defineEnvironment({ … })`");
  if (another !== undefined)
    throw new TypeError(`the module exports several environments (${found.map(({ id }) => id).join(", ")}): make one of them the default export`);
  return { ...definition, source };
}
