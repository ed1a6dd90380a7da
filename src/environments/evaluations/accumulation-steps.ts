import { loggerOf } from "../../logging/logger.ts";

const log = loggerOf("evaluation");

/**
 * Splits a data set evenly: the largest batch of at most `maxBatchSize` samples per device with which `datasetSize` samples are a whole number of steps on `replicas`
 * devices, and that number. `[null, null]`, with a warning, where there is none. Throws a `RangeError` for what is no positive integer.
 */
export function findAccumulationSteps(datasetSize: number, maxBatchSize: number, replicas: number): readonly [number, number] | readonly [null, null] {
  for (const [name, value] of Object.entries({ datasetSize, maxBatchSize, replicas }))
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} is ${value}, not an integer from 1`);
  for (let batch = Math.min(maxBatchSize, datasetSize); batch >= 1; batch--)
    if (datasetSize % (batch * replicas) === 0) return [batch, datasetSize / (batch * replicas)];
  log.warning("no batch size divides the data set evenly", { dataset_size: datasetSize, replicas });
  return [null, null];
}
