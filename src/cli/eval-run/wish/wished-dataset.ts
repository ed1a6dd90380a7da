import { datasetPath } from "../../datasets/dataset-upload.ts";
import type { EvalWish } from "./eval-wish.ts";

/**
 * The file of this machine that an evaluation's rows are read from, which the service is sent; null where it names none. What an environment in Python or a linked one
 * calls `dataset` is its own: it is told what was typed, and reads that itself.
 */
export const wishedDataset = ({ given, isPython, isLinked }: Pick<EvalWish, "given" | "isPython" | "isLinked">, cwd: string): string | null =>
  isPython === true || isLinked === true ? null : datasetPath(given.env_args ?? {}, cwd);
