import { isTraces } from "../../r2-layout/keys.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import { withNativeRewards } from "../pushed/native-rewards.ts";
import { readSample } from "../pushed/sample.ts";
import { SampleScanner } from "../pushed/sample-scanner.ts";
import type { BatchScanner, ScannedSample } from "../pushed/scanned-sample.ts";
import { type ForeignRow, readForeignRow } from "../rollouts/rows/foreign-row.ts";
import { rowText } from "../rollouts/rows/row-text.ts";
import { LineScanner } from "./line-scanner.ts";
import { rowOfLine } from "./trace-line.ts";

/** How the samples of a stored batch are found and read. */
export interface BatchFormat {
  scanner(): BatchScanner;
  /** What a sample says in a row's fields. Throws a `BatchError`. */
  read(sample: ScannedSample): JsonObject;
  /** The row that these bytes of the batch become. */
  row(bytes: Uint8Array): ForeignRow;
}

const SAMPLES: BatchFormat = {
  scanner: () => new SampleScanner(),
  read: (sample) => readSample(sample).value,
  row: (bytes) => withNativeRewards(readForeignRow(new TextDecoder().decode(bytes))),
};

const TRACES: BatchFormat = {
  scanner: () => new LineScanner(),
  read: ({ bytes }) => rowOfLine(bytes),
  row: (bytes) => {
    const value = rowOfLine(bytes);
    return { value, text: rowText(value) };
  },
};

/** Of a batch that is stored under this name. */
export const formatOf = (object: string): BatchFormat => (isTraces(object) ? TRACES : SAMPLES);
