import { z } from "zod";
import { option } from "./option.ts";
import { plainText } from "../plain-text.ts";

export const MAX_TAGS = 16;
/** Without commas, since a flag has several, and without what nobody sees. */
const tag = plainText(40).regex(/^[^\s,](?:[^,]*[^\s,])?$/, "must be 1 to 40 characters without a comma, and without a blank at either end");

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
  tags: option({
    kind: "list",
    flag: "tag",
    aliases: ["tag"],
    schema: z.array(tag).max(MAX_TAGS),
    default: undefined,
    http: ["eval_config", "tags"],
    value: "A,B",
    repeats: true,
    help: "words by which lists find the run; may be given again",
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
