import { startWorker } from "../../../background/start-worker.ts";
import { TimedWorker } from "../../../background/timed-worker.ts";
import type { DiffPart } from "./diff-texts.ts";
import diffScript from "./diff-worker.ts?worker";

/** A pair of texts that takes longer is not marked. */
const LIMIT_MS = 2_000;

const differences = new TimedWorker<readonly [string, string], readonly DiffPart[] | null>(() => startWorker(diffScript, import.meta.url), LIMIT_MS);

/** What two texts differ in, found beside the page; null where that is too much. */
export const differenceBeside = (left: string, right: string): Promise<readonly DiffPart[] | null> => differences.ask([left, right]);
