import { z } from "zod";
import { DEFAULT_PRIORITY, MAX_PRIORITY, MIN_PRIORITY } from "../../endpoint-limits/limit-kinds.ts";
import { limitRows } from "../endpoints/limit-rows.ts";
import { priceRows } from "../endpoints/price-rows.ts";
import { didYouMean } from "../nearest.ts";
import { SANDBOX_NAMES } from "../sandbox-names.ts";
import { GIVEN_NAME_RULE, isGivenName } from "../given-name.ts";
import { CACHE_MODES } from "../plan/run-config.ts";
import { option } from "./option.ts";
import { budgetUsd, heartbeatUrl, workerCount } from "./option-values.ts";

/** Above it a limit is none. */
export const MAX_CONCURRENT = 1_000_000;

/** Minutes that a run with batches has when nothing is said: providers promise a batch within a day. */
export const BATCH_TIMEOUT_MINUTES = 1440;

/** An answer that is older says little of what a model's name stands for by now. */
export const MAX_CACHE_DAYS = 365;
const CACHE_CHOICES = ["off", ...CACHE_MODES] as const;

/** Options that say how a run is carried out and watched, and change nothing of what it measures. */
export const EXECUTION_OPTIONS = {
  max_concurrent: option({
    kind: "integer",
    short: "c",
    schema: z.int().min(-1).max(MAX_CONCURRENT),
    default: 32,
    http: ["eval_config", "max_concurrent"],
    resume: true,
    value: "N",
    help: "requests in flight at the model endpoint, never more; 0 or -1 = no limit",
  }),
  max_concurrent_total: option({
    kind: "integer",
    schema: z.int().min(1).max(MAX_CONCURRENT),
    default: undefined,
    http: ["body", "max_concurrent_total"],
    fileWide: true,
    value: "N",
    help: "of several evaluations together: the most requests in flight; what one does not use the others have, and each keeps its own -c below that",
  }),
  max_concurrent_generation: option({
    kind: "integer",
    schema: z.int().min(-1).max(MAX_CONCURRENT),
    default: undefined,
    http: ["eval_config", "max_concurrent_generation"],
    resume: true,
    value: "N",
    help: "requests in flight at the model endpoint where that is to be less than -c, which then says how much is under way with scoring; as -c when not given",
  }),
  max_concurrent_scoring: option({
    kind: "integer",
    schema: z.int().min(-1).max(MAX_CONCURRENT),
    default: undefined,
    http: ["eval_config", "max_concurrent_scoring"],
    resume: true,
    value: "N",
    help: "requests of judges in flight, beside those of the model; as -c when not given, 0 or -1 = no limit",
  }),
  priority: option({
    kind: "number",
    schema: z.number().min(MIN_PRIORITY).max(MAX_PRIORITY),
    default: DEFAULT_PRIORITY,
    http: ["eval_config", "priority"],
    resume: true,
    value: "N",
    help: "weight of the run where several share the limit of an endpoint's key: with 2 it gets twice the part of one with 1",
  }),
  limits: option({
    kind: "json",
    aliases: ["limit"],
    schema: limitRows,
    default: undefined,
    http: ["eval_config", "limits"],
    resume: true,
    only: "toml",
    help: "what endpoints bear, as [[limit]] tables (endpoint_id, or url with key and model; concurrent, requests_per_minute, tokens_per_minute, …): kept to together with the team's other runs that have them; those of the endpoint registry come in front",
  }),
  prices: option({
    kind: "json",
    aliases: ["price"],
    schema: priceRows,
    default: undefined,
    http: ["eval_config", "prices"],
    only: "toml",
    help: "what models cost, as [[price]] tables (model with url, or endpoint_id; input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok; batch_factor), before the table that is shipped; kept with the run; those of the endpoint registry come in front (docs/costs.md)",
  }),
  cache: option({
    kind: "text",
    schema: z.enum(CACHE_CHOICES, {
      error: ({ input }) => `there is no such use of the cache${didYouMean(input, CACHE_CHOICES)}; known are ${CACHE_CHOICES.join(", ")}`,
    }),
    default: "off",
    http: ["eval_config", "cache"],
    resume: true,
    value: CACHE_CHOICES.join("|"),
    help: "answers that the team keeps (docs/cache.md): read = equal requests of the same attempt are answered by them; read-write = and new ones are kept, so that repeating a run asks nothing again; -r still asks each attempt",
  }),
  cache_days: option({
    kind: "integer",
    schema: z.int().min(1).max(MAX_CACHE_DAYS),
    default: 30,
    http: ["eval_config", "cache_days"],
    resume: true,
    value: "N",
    help: `days for which answers are kept that this run adds to the cache (1 to ${MAX_CACHE_DAYS})`,
  }),
  batch: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "batch"],
    resume: true,
    negatable: true,
    help: `requests go out in batches of the provider (docs/batch.md): half the price, answers within a day. For environments of one turn, at OpenAI or Anthropic; --timeout-minutes is ${BATCH_TIMEOUT_MINUTES} unless given`,
  }),
  max_cost: option({
    kind: "number",
    schema: budgetUsd,
    default: undefined,
    http: ["eval_config", "max_cost"],
    resume: true,
    value: "DOLLARS",
    help: "the most that the run may spend on its model and its judges, each evaluation by itself (docs/budgets.md): it ends in order when nothing more can be paid, and -R with more goes on. Prices must be known, and answers bounded (-t)",
  }),
  num_workers: option({
    kind: "text",
    short: "w",
    schema: workerCount,
    default: "auto",
    http: ["eval_config", "num_workers"],
    resume: true,
    value: "N",
    help: "executors that share the run, at most; auto = -c over the requests that one can carry, at least 1",
  }),
  no_interleave_scoring: option({
    kind: "switch",
    short: "N",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "no_interleave_scoring"],
    resume: true,
    help: "score when all rollouts are generated; beyond 512 of them in rounds, in which either is done",
  }),
  sandbox: option({
    kind: "text",
    schema: z.enum(SANDBOX_NAMES, {
      error: ({ input }) => `there are no such sandboxes${didYouMean(input, SANDBOX_NAMES)}; known are ${SANDBOX_NAMES.join(", ")}`,
    }),
    default: undefined,
    http: ["eval_config", "sandbox"],
    resume: true,
    value: "NAME",
    help: `whose sandboxes the environment gets (docs/sandboxes.md): ${SANDBOX_NAMES.join(", ")}; wins over what the environment asks for. Default: its wish, else local on this machine, or SANDBOX of a deployment`,
  }),
  heartbeat_url: option({
    kind: "text",
    schema: heartbeatUrl,
    default: undefined,
    http: ["eval_config", "heartbeat_url"],
    resume: true,
    besideToml: true,
    value: "URL",
    help: "the service calls it (GET) at each finished unit, every 30 s while the run progresses, and when it is COMPLETED",
  }),
  monitor: option({
    kind: "text",
    schema: z.string().refine(isGivenName, GIVEN_NAME_RULE),
    default: undefined,
    http: ["eval_config", "monitor"],
    resume: true,
    besideToml: true,
    value: "NAME",
    help: "the run reports to this monitor of the service, made if there is none: alive while it progresses, done at its end, lost where it fails or falls silent",
  }),
  no_preflight: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    besideToml: true,
    help: "begin without a look at the model endpoint (its list of models, or one short answer); runs on a service elsewhere have none",
  }),
  fresh_state: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "move what the service of this machine has stored away first, and begin without it: with -R a run goes on from its results folder",
  }),
  stall_minutes: option({
    kind: "number",
    schema: z.number().positive("must be more than 0").max(1440),
    default: 15,
    http: ["eval_config", "stall_minutes"],
    resume: true,
    value: "N",
    help: "minutes without an answered request or a finished unit until the log says so and heartbeats stop",
  }),
} as const;
