/** What an evaluation of a step is kept by beside the run: best effort, and never what the evaluation fails by. */

export interface EvalRecord {
  readonly run_id: string;
  readonly benchmark_id: string | null;
  readonly step: number | null;
  readonly metrics: Readonly<Record<string, number>>;
}

/** One attempt at one task. Token ids are not in the rows of a run, so that they are null. */
export interface PredictionRecord {
  readonly kind: "eval";
  readonly eval_id: string;
  readonly task_id: string;
  readonly sample_index: number;
  readonly step: number | null;
  readonly instruction: string;
  readonly expected: unknown;
  readonly reward: number;
  readonly completion_token_ids: null;
  /** The task's own, with `latency_ms`, `input_tokens` and `output_tokens` where the row has them. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface EvalStore {
  /** The id of what was kept; nothing or "" = it was not. */
  createEval(record: EvalRecord): Promise<string | null | undefined>;
  /** In batches, where the store can; else one by one. */
  addPredictions?(rows: readonly PredictionRecord[]): Promise<unknown>;
  addPrediction?(row: PredictionRecord): Promise<unknown>;
}

const BATCH = 100;

/**
 * Keeps the evaluation, and then its rows only if that has an id: there are no rows that belong to nothing. Whatever the store throws is told to `onWarn` and
 * ends the upload.
 */
export async function uploadEval(
  store: EvalStore,
  record: EvalRecord,
  rows: (evalId: string) => AsyncIterable<PredictionRecord>,
  onWarn: (line: string) => void,
): Promise<void> {
  let sent = 0;
  try {
    const id = await store.createEval(record);
    if (!id) return onWarn("the store gave the evaluation no id: its rows are not sent");
    let batch: PredictionRecord[] = [];
    const flush = async (): Promise<void> => {
      if (batch.length > 0) await store.addPredictions?.(batch);
      sent += batch.length;
      batch = [];
    };
    for await (const row of rows(id)) {
      if (store.addPredictions === undefined) {
        await store.addPrediction?.(row);
        sent += 1;
        continue;
      }
      batch.push(row);
      if (batch.length >= BATCH) await flush();
    }
    await flush();
  } catch (error) {
    onWarn(`the store failed after ${sent} rows: ${error instanceof Error ? error.message : String(error)}`);
  }
}
