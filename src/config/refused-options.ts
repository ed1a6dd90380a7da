import { z } from "zod";
import { option, type Refusal } from "./option.ts";

const NO_HUB: Refusal = {
  reason: "results are not exported to the Hugging Face Hub; upload the results folder with `huggingface-cli upload`",
  inFile: "warning",
};
const NO_SERVER: Refusal = {
  reason: "environments run in the service's executors, and no environment server is started that could be left out",
  inFile: "warning",
};
const notPossible = ({ reason }: Refusal): string => `not possible: ${reason}`;

/** Options of verifiers that cannot do here what they say. They are known by name, so that they are refused with the reason. */
export const REFUSED_OPTIONS = {
  save_to_hf_hub: option({ kind: "switch", short: "H", schema: z.boolean(), default: false, http: null, refused: NO_HUB, help: notPossible(NO_HUB) }),
  hf_hub_dataset_name: option({
    kind: "text",
    short: "D",
    schema: z.string(),
    default: undefined,
    http: null,
    value: "NAME",
    refused: NO_HUB,
    help: notPossible(NO_HUB),
  }),
  disable_env_server: option({ kind: "switch", schema: z.boolean(), default: false, http: null, refused: NO_SERVER, help: notPossible(NO_SERVER) }),
} as const;
