import { canonicalJson } from "../config/canonical-json.ts";
import type { ScheduleDefinition } from "./definition.ts";

/** Keys of an evaluation's table that decide which examples there are. */
const DATA_KEYS = ["env_id", "id", "env_args", "num_examples", "shuffle", "shuffle_seed", "extra_env_kwargs"] as const;

/** What a definition says of its data: pins of another text are of other data. */
export const pinOf = ({ eval: table }: Pick<ScheduleDefinition, "eval">): string =>
  canonicalJson(Object.fromEntries(DATA_KEYS.flatMap((key) => (table[key] === undefined ? [] : [[key, table[key]]]))));
