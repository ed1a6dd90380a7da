import { copyJson } from "../../rollouts/copy-json.ts";
import type { GenerateOutputs } from "../unit/generate.ts";
import type { Row } from "../../rollouts/rows/row.ts";

/** The rows that an evaluation gave as a data set of their own (a copy): `prompt`, `answer`, `info` and all else is there. */
export const makeDataset = ({ outputs }: GenerateOutputs): Row[] => copyJson(outputs);
