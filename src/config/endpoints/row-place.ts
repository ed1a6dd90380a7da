/** What a `[[price]]` or a `[[limit]]` may be known by, the first that it has; an address may hold a secret. */
const NAMED_BY = ["model", "endpoint_id"] as const;

/** A table of a list as errors name it: `[[price]] #2 (model "x")`. `index` counts from 0. */
export function rowPlace(list: "limit" | "price", index: number, row: unknown): string {
  const fields = typeof row === "object" && row !== null ? (row as Readonly<Record<string, unknown>>) : {};
  const by = NAMED_BY.find((name) => typeof fields[name] === "string");
  return `[[${list}]] #${index + 1}${by === undefined ? "" : ` (${by} ${JSON.stringify(String(fields[by]).slice(0, 80))})`}`;
}
