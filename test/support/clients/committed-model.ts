import { readFileSync } from "node:fs";
import { type EmbeddedModel, loadModel } from "../../../src/embedded-model/model.ts";

const FILE = new URL("../../../src/embedded-model/weights.bin", import.meta.url);

/** The bytes of the weights that the repository ships. */
export const committedWeights = (): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(FILE));

export const committedModel = (): Promise<EmbeddedModel> => loadModel(committedWeights());
