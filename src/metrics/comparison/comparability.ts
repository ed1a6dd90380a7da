import { coversCode, shortDigest } from "../../config/env-digest.ts";
import { OTHER_INTERVAL } from "../sequential/stopped-early.ts";

/** What decides whether scores of two runs mean the same, of a `metadata.json`. */
export interface ComparedFacts {
  readonly env_id: string;
  readonly env_version: string | null;
  readonly env_digest: string | null;
  /** Several: its code changed meanwhile, and that was accepted. */
  readonly codes: number;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Of an imported run: the program that made it, and which of its scores is the reward. */
  readonly source: { readonly format: string; readonly rewardIs: string } | null;
  /** The key over whose groups its own intervals are; null = over examples. */
  readonly cluster_by: string | null;
  /** Whether all of its rows are there. */
  readonly ended: boolean;
  readonly run_id: string | null;
  readonly rows_sha256: string | null;
  /** Of a run that scores another's rollouts again: whose, and by which rubric. */
  readonly rescored: { readonly run_id: string | null; readonly rows_sha256: string | null; readonly rubric: string | null } | null;
  /** Its rule to stop by was met, which is said so; null or absent = it was not. */
  readonly stopped?: string | null;
}

/** Why two runs are not compared, with what would make them comparable; and what a reader should know where they are. */
export interface Comparability {
  readonly refusals: readonly { readonly reason: string; readonly hint: string }[];
  readonly warnings: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export function comparedFacts(metadata: unknown): ComparedFacts {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  const { format, reward_is: rewardIs } = fieldsOf(own.imported);
  return {
    env_id: textOf(file.env_id ?? file.env) ?? "",
    env_version: textOf(own.env_version) ?? textOf(fieldsOf(file.version_info).env_version),
    env_digest: textOf(own.env_digest),
    codes: Math.max(1, Object.keys(fieldsOf(own.env_digests)).length),
    arguments: { ...fieldsOf(file.env_args), ...fieldsOf(own.extra_env_kwargs) },
    source: typeof format === "string" && typeof rewardIs === "string" ? { format, rewardIs } : null,
    cluster_by: textOf(own.cluster_by),
    run_id: textOf(own.run_id),
    rows_sha256: textOf(fieldsOf(own.rows_digest).sha256),
    rescored: own.rescored_from === undefined ? null : rescoredFacts(fieldsOf(own.rescored_from)),
    stopped: textOf(fieldsOf(own.stopped_early).rule),
    ended: own.status === undefined || !["PENDING", "RUNNING"].includes(String(own.status)),
  };
}

/** What the numbers of a run that ended by a rule are, where an interval of fixed size stands beside them. */
export const stoppedWarning = (rule: string): string => `stopped early, by ${rule}: ${OTHER_INTERVAL}`;

const rescoredFacts = ({ run_id, rows_sha256, rubric }: Fields): NonNullable<ComparedFacts["rescored"]> => ({
  run_id: textOf(run_id),
  rows_sha256: textOf(rows_sha256),
  rubric: textOf(rubric),
});

/** Whether `b` scores the rollouts of `a` again. */
const scoresAgain = (a: ComparedFacts, { rescored }: ComparedFacts): boolean =>
  rescored !== null &&
  ((rescored.rows_sha256 !== null && rescored.rows_sha256 === a.rows_sha256) ||
    (rescored.run_id !== null && rescored.run_id === a.run_id && (rescored.rows_sha256 === null || a.rows_sha256 === null)));

/** What a reader is told where two runs have the same rollouts and different scorers; null where that is not so. */
function onPurpose(a: ComparedFacts, b: ComparedFacts): string | null {
  const both = a.rescored !== null && b.rescored !== null && a.rescored.rows_sha256 !== null && a.rescored.rows_sha256 === b.rescored.rows_sha256;
  if (!both && !scoresAgain(a, b) && !scoresAgain(b, a)) return null;
  const scorer = ({ env_id, rescored }: ComparedFacts): string => (rescored?.rubric ? `${env_id} (rubric ${rescored.rubric})` : env_id);
  return `the same rollouts, scored by ${scorer(a)} and by ${scorer(b)}: the scorers differ on purpose, and the difference is theirs`;
}

/** `accepted`: the caller knows that another code, or environment, scores the same. `clustered`: the comparison is over groups of examples. */
export function comparability(a: ComparedFacts, b: ComparedFacts, accepted: boolean, clustered = false): Comparability {
  const warnings: string[] = [];
  const refusals: { readonly reason: string; readonly hint: string }[] = [];
  const refuse = (reason: string, hint: string): void => {
    if (accepted) warnings.push(`${reason} (accepted)`);
    else refusals.push({ reason, hint });
  };
  const changed = [...new Set([...Object.keys(a.arguments), ...Object.keys(b.arguments)])].filter(
    (name) => JSON.stringify(a.arguments[name]) !== JSON.stringify(b.arguments[name]),
  );
  const purpose = onPurpose(a, b);
  if (purpose !== null) warnings.push(purpose);
  else if (a.env_id !== b.env_id)
    refuse(
      `the environments are ${a.env_id} and ${b.env_id}: another scorer gave other scores`,
      "Run both under one environment. If they score alike, say so: --accept-code-change.",
    );
  else if (a.source !== null && b.source !== null && a.source.format === b.source.format && a.source.rewardIs !== b.source.rewardIs)
    refuse(
      `the reward is ${a.source.rewardIs} in the one and ${b.source.rewardIs} in the other`,
      "If they mean the same, or only metrics that both have are looked at, say so: --accept-code-change.",
    );
  else if (changed.length > 0)
    warnings.push(`arguments of the environment differ (${changed.join(", ")}): if one of them changes how answers are scored, the difference is that too`);
  else if (a.env_digest !== null && b.env_digest !== null && a.env_digest !== b.env_digest) {
    const reason = `the code of environment ${a.env_id} is not the same: ${shortDigest(a.env_digest)} and ${shortDigest(b.env_digest)}`;
    if (coversCode(a.env_digest) && coversCode(b.env_digest))
      refuse(
        reason,
        "Run the baseline again with the present code, or score its rows with it. If the scorer is the same in both, say so: --accept-code-change.",
      );
    else warnings.push(reason);
  } else if (a.env_digest === null || b.env_digest === null) {
    const versions =
      a.env_version !== b.env_version && a.env_version !== null && b.env_version !== null ? ` (versions ${a.env_version} and ${b.env_version})` : "";
    warnings.push(`whether both were scored by the same code is not known${versions}`);
  }
  if (a.codes > 1 || b.codes > 1) warnings.push("rows of one run are of several versions of its code");
  const shared = clustered ? null : (a.cluster_by ?? b.cluster_by);
  if (shared !== null)
    warnings.push(`examples share ${JSON.stringify(shared)}, and are taken for independent here: intervals may be too narrow, and p too low`);
  if (!a.ended || !b.ended) warnings.push("one of the runs has not ended: what is done so far is no random part of it");
  for (const facts of [a, b]) if (typeof facts.stopped === "string") warnings.push(`one of the runs ${stoppedWarning(facts.stopped)}`);
  return { refusals, warnings };
}
