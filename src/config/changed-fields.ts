import { canonicalJson } from "./canonical-json.ts";

/** Names of what is otherwise in the second definition; a field that is absent there is otherwise too. */
export function changedFields<Definition extends object>(before: Definition, after: Definition): readonly (keyof Definition & string)[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Definition & string>;
  return [...names].filter((name) => canonicalJson((before[name] ?? null) as never) !== canonicalJson((after[name] ?? null) as never)).sort();
}
