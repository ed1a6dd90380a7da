import { parse } from "yaml";
import { z } from "zod";
import { EdgewiseError } from "../errors/result.ts";
import { type CardRun, fixedInterval } from "./card-run.ts";

/** Front matter of a card, and the text below it. */
export const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/;

const hex = z.string().regex(/^[0-9a-f]*$/);
const count = z.number().int().min(0);
const numbers = z.record(z.string(), z.number());

const FILE = z.object({
  /** Beside the card. */
  path: z.string().regex(/^[A-Za-z0-9_][\w.-]*\/[\w.-]+\.(parquet|csv|jsonl)$/),
  rows: count,
  /** Of its bytes. Absent, as the marks, where a version before wrote the file. */
  sha256: hex.length(64).optional(),
  /** `RowEncoder.marks`. */
  marks: hex.length(512).optional(),
});

const RUN = z.object({
  run_id: z.string().nullable(),
  env_id: z.string(),
  model: z.string(),
  rollouts_per_example: count.nullable(),
  pass_threshold: z.number(),
  reward_range: z.tuple([z.number(), z.number()]),
  /** Absent where examples were not clustered, and in cards of before. */
  cluster_by: z.string().optional(),
  foreign: z.boolean(),
  rows: count,
  avg_reward: z.number(),
  avg_metrics: numbers,
  pass_at_k: numbers,
  pass_all_k: numbers,
  errored_rollouts: count,
  /** By code. */
  errors: numbers,
  reward_ci95: z.tuple([z.number(), z.number()]).nullable(),
});

const PART = z.object({ metrics: z.array(z.string()), files: z.array(FILE), runs: z.array(RUN).min(1) });
/** `config`: of the data set. */
const CONFIG = PART.extend({ config: z.string() });
/** Version 2 has configs; of a folder that was an export before it has what version 1 has too. */
const CONFIGS = z.object({ version: z.literal(2), configs: z.array(CONFIG) });

export type StatedFile = z.infer<typeof FILE>;
export type StatedRun = z.infer<typeof RUN>;
/** What a card says of files and numbers to programs: the key `edgewise` of its front matter. The runs are in the order of their rows. */
export type CardStatement = z.infer<typeof PART>;
/** The same of one config of a data set that runs were pushed to. */
export type ConfigStatement = z.infer<typeof CONFIG>;
export const CONFIGS_VERSION = 2;

export interface Stated {
  readonly runs: readonly CardRun[];
  readonly metrics: readonly string[];
  readonly files: readonly StatedFile[];
}

/** Lines of front matter. */
export const statementLines = ({ runs, metrics, files }: Stated): readonly string[] => [
  "edgewise:",
  "  version: 1",
  `  metrics: ${yamlText(metrics)}`,
  ...["  files:", ...files.map((file) => `  - ${yamlText(statedFile(file))}`)],
  ...["  runs:", ...runs.map((run) => `  - ${yamlText(statedRun(run))}`)],
];

export const configStatement = (config: string, { runs, metrics, files }: Stated): ConfigStatement => ({
  config,
  metrics: [...metrics],
  files: files.map(statedFile),
  runs: runs.map(statedRun),
});

const statedFile = ({ path, rows, sha256, marks }: StatedFile): StatedFile => ({
  ...{ path, rows },
  ...(sha256 === undefined ? {} : { sha256 }),
  ...(marks === undefined ? {} : { marks }),
});

function statedRun({ facts, aggregates }: CardRun): StatedRun {
  const reward_ci95 = fixedInterval({ facts, aggregates });
  const { run_id, env_id, model, rollouts_per_example, pass_threshold, reward_range, cluster_by, foreign } = facts;
  const { rollouts, avg_reward, avg_metrics, pass_at_k, pass_all_k, errored_rollouts, errors } = aggregates;
  return {
    ...{ run_id, env_id, model, rollouts_per_example, pass_threshold, reward_range: [...reward_range], foreign, rows: rollouts },
    ...(cluster_by === undefined ? {} : { cluster_by }),
    ...{ avg_reward, avg_metrics: { ...avg_metrics }, pass_at_k: { ...pass_at_k }, pass_all_k: { ...pass_all_k }, errored_rollouts },
    ...{ errors: Object.fromEntries(Object.entries(errors).filter(([, number]) => number > 0)), reward_ci95: reward_ci95 === null ? null : [...reward_ci95] },
  };
}

/** JSON is YAML, but for characters that YAML wants escaped (1.2, 5.1). */
const yamlText = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What a card states, of all that is beside it; each may be nothing. */
export interface CardStatements {
  /** Of files in `data/`; null where it is no export. */
  readonly own: CardStatement | null;
  readonly configs: readonly ConfigStatement[];
}

const NOTHING: CardStatements = { own: null, configs: [] };

/** Throws `storage_damaged` for a statement that cannot be read, and `stored_version_unknown`. */
export function readStatements(card: string): CardStatements {
  const front = FRONT_MATTER.exec(card)?.[1];
  if (front === undefined) return NOTHING;
  let fields: unknown;
  try {
    fields = parse(front);
  } catch (thrown) {
    throw new EdgewiseError("storage_damaged", `the front matter of the card is no YAML: ${String(thrown).split("\n")[0]}`, { cause: thrown });
  }
  const stated = (fields as { edgewise?: unknown } | null)?.edgewise;
  if (stated === undefined || stated === null) return NOTHING;
  const { version, files } = stated as { version?: unknown; files?: unknown };
  if (typeof version === "number" && version > CONFIGS_VERSION)
    throw new EdgewiseError("stored_version_unknown", `the card states its files in version ${version}, which this version of Edgewise does not know`);
  if (version === 1) return { own: as(PART, stated), configs: [] };
  return { own: files === undefined ? null : as(PART, stated), configs: as(CONFIGS, stated).configs };
}

/** What a card states of an export; null where it states nothing of the kind. Throws as `readStatements`. */
export const readStatement = (card: string): CardStatement | null => readStatements(card).own;

function as<T>(schema: z.ZodType<T>, stated: unknown): T {
  const read = schema.safeParse(stated);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new EdgewiseError("storage_damaged", `the front matter of the card is not as it is written: edgewise.${issue?.path.join(".")}: ${issue?.message}`);
}
