import { type Given, type Values, valueIn } from "../../design/field/given.ts";
import type { Draft, FieldName } from "./draft.ts";
import { referenceOf } from "./draft.ts";
import { modelOf } from "./settings.ts";

/** What a field was in the draft that this one began with, in words; of fields that are as they were nothing. */
export type Changes = ReadonlyMap<FieldName, string>;

export function changesOf(base: Draft | null, draft: Draft): Changes {
  const changes = new Map<FieldName, string>();
  if (base === null) return changes;
  if (referenceOf(base) !== referenceOf(draft)) changes.set("environment", referenceOf(base));
  if (modelOf(base) !== modelOf(draft)) changes.set("model", modelOf(base));
  if (JSON.stringify(base.place) !== JSON.stringify(draft.place)) changes.set("place", placeText(base));
  for (const group of ["args", "sampling", "options"] as const)
    for (const name of new Set([...Object.keys(base[group]), ...Object.keys(draft[group])])) {
      const was = valueIn(base[group], name);
      if (!isSame(was, valueIn(draft[group], name))) changes.set(`${group}.${name}`, was === null ? "not given" : was.text === "" ? "empty" : was.text);
    }
  return changes;
}

const isSame = (one: Given | null, other: Given | null): boolean => one?.text === other?.text && one?.json === other?.json;

function placeText({ place, options }: Draft): string {
  if (place.kind === "provider") return place.name;
  if (place.kind === "endpoint") return place.id;
  if (place.kind === "replicas") return `${place.replicas.length} places`;
  return place.kind === "service" ? "the service's own" : (valueIn(options, "api_base_url")?.text ?? "another address");
}

/** How many of a group are given. */
export const givenCount = (values: Values, names: readonly string[]): number => names.filter((name) => valueIn(values, name) !== null).length;
