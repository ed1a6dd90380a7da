import { z } from "zod";
import { option } from "./option.ts";
import { plainText } from "../plain-text.ts";

/** Flags of the `prime` client for runs of a service elsewhere. */
export const HOSTED_OPTIONS = {
  hosted: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "create the run at the service that EDGEWISE_URL names, print its id and link, and leave it to itself; flags win over a config file",
  }),
  follow: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "with --hosted: follow the run to its end, with its results folder here; the exit code is the run's",
  }),
  poll_interval: option({
    kind: "number",
    schema: z.number().positive().max(3600),
    default: 10,
    http: null,
    only: "flag",
    besideToml: true,
    value: "SECONDS",
    help: "with --hosted --follow: time between two looks at the rows and the log",
  }),
  eval_name: option({
    kind: "text",
    aliases: ["name"],
    schema: plainText(200),
    default: undefined,
    http: ["body", "name"],
    value: "NAME",
    help: "what the run is called in lists",
  }),
  allow_sandbox_access: option({
    kind: "switch",
    schema: z.boolean(),
    default: undefined,
    http: ["eval_config", "allow_sandbox_access"],
    help: "let the environment have sandboxes: a run that nobody attends is refused without it where its environment asks for one",
  }),
  allow_instances_access: option({
    kind: "switch",
    schema: z.boolean(),
    default: undefined,
    http: ["eval_config", "allow_instances_access"],
    help: "let the environment make and manage instances: a run that nobody attends is refused without it where its environment asks for them",
  }),
  allow_tunnel_access: option({
    kind: "switch",
    schema: z.boolean(),
    default: undefined,
    http: ["eval_config", "allow_tunnel_access"],
    help: "kept with the run: no environment here asks for a tunnel",
  }),
  custom_secrets: option({
    kind: "json",
    schema: z.record(z.string(), z.string()),
    default: undefined,
    http: ["eval_config", "custom_secrets"],
    only: "flag",
    resume: true,
    value: "JSON",
    help: "secrets of this run alone, by name: kept encrypted until it has settled, given to its environment, and never written",
  }),
} as const;

/** Mean nothing for a run of this machine. */
export const HOSTED_ONLY = ["follow", "poll_interval", "allow_sandbox_access", "allow_instances_access", "allow_tunnel_access"] as const;
