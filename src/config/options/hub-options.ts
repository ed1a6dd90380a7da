import { z } from "zod";
import { HUB_NAME_RULE, hubTarget } from "../hub-name.ts";
import { option } from "./option.ts";

/** The push of a run's rows to the Hugging Face Hub when it has ended. */
export const HUB_OPTIONS = {
  save_to_hf_hub: option({
    kind: "switch",
    short: "H",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "save_to_hf_hub"],
    help: "push the rows to a data set of the Hugging Face Hub when the run has completed, as a config of its own (docs/push.md); private unless said otherwise",
  }),
  hf_hub_dataset_name: option({
    kind: "text",
    short: "D",
    schema: z.string().refine((name) => hubTarget(name).ok, HUB_NAME_RULE),
    default: undefined,
    http: ["eval_config", "hf_hub_dataset_name"],
    value: "NAME",
    help: "with -H: the data set, owner/name or name (default: {env_id}_{model}_n{examples}_r{rollouts} of the token's owner)",
  }),
  hf_hub_public: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "hf_hub_public"],
    help: "with -H: let everybody see the data set",
  }),
} as const;
