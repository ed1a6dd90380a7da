import type { IsolatedModule } from "../isolates/isolated-module.ts";

/** Environments that this service was put together with and whose code is not its own, by id: set once, before the first request. */
let known: ReadonlyMap<string, IsolatedModule> = new Map();

/** Gives this service such environments; one of the same id takes the place of any other. Throws `TypeError` for two of one id. */
export function registerIsolated(modules: readonly IsolatedModule[]): void {
  const ids = modules.map(({ facts }) => facts.id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice !== undefined) throw new TypeError(`two environments are called ${JSON.stringify(twice)}`);
  known = new Map(modules.map((module) => [module.facts.id, module]));
}

export const findIsolated = (id: string): IsolatedModule | null => known.get(id) ?? null;

export const isolatedIds = (): readonly string[] => [...known.keys()];
