import type { Difference } from "./differences.ts";

/** A difference that stays: where it shows, and the row of docs/verifiers-compatibility.md that lists it, by its first cell. */
export interface Listed {
  readonly path: RegExp;
  readonly environments: readonly string[];
  readonly row: string;
}

export const LISTED: readonly Listed[] = [
  {
    path: /^row \d+\.timing\.(model|env)\.duration$/,
    environments: ["*"],
    row: "row, `timing` of a rollout without a call, or without an answer of the environment",
  },
  {
    path: /^(row \d+\.tool_defs|metadata\.tools)\.\d\.parameters\.properties\.\w+\(keys\)$/,
    environments: ["tools", "stateful"],
    row: "schema of a parameter with a default",
  },
  { path: /^row [45]\.completion\.3\.content$/, environments: ["tools"], row: "arguments that are no JSON" },
  { path: /^row \d+\.shifts$/, environments: ["stateful"], row: "row, numbers" },
  { path: /^row \d+\.info\(keys\)$/, environments: ["group"], row: "`EnvGroup`: a key of `info` that another member's examples have" },
  { path: /^row \d+\.(error\.error_chain_repr|error_chain)$/, environments: ["failing", "text"], row: "row, `error`: messages" },
  {
    path: /^(row \d+(\(keys\)|\.error|\.metrics\(keys\))|metadata\.(avg_error|avg_metrics\(keys\)))$/,
    environments: ["broken"],
    row: "a reward function that throws or returns no finite number",
  },
];

/** The entry that lists a difference found in the environment `name`; undefined for one that nothing lists. */
export const listedAs = (name: string, { path }: Difference): Listed | undefined =>
  LISTED.find((listed) => (listed.environments.includes("*") || listed.environments.includes(name)) && listed.path.test(path));
