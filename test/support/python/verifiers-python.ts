import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** A Python whose `verifiers` has the library that environments are written against: releases 0.1.14 to 0.3, named by `EDGEWISE_TEST_PYTHON`. */
export interface VerifiersPython {
  readonly python: string;
  /** Its own evaluator. */
  readonly vfEval: string;
}

const HAS_LIBRARY = "import verifiers as vf; vf.SingleTurnEnv, vf.load_environment";

/** Null, with a line that says so, where there is none: `what` are the tests that do without. */
export function verifiersPython(what: string): VerifiersPython | null {
  const python = process.env.EDGEWISE_TEST_PYTHON ?? "";
  const vfEval = join(dirname(python), "vf-eval");
  if (python !== "" && existsSync(vfEval) && spawnSync(python, ["-c", HAS_LIBRARY]).status === 0) return { python, vfEval };
  console.log(`skipped: EDGEWISE_TEST_PYTHON names no Python with verifiers 0.1.14 to 0.3 (${what})`);
  return null;
}
