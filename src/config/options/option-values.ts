/** Schemas of values that options take. */
import { z } from "zod";
import { parseUrl } from "../endpoints/addresses.ts";
import { isKeyVariable } from "../endpoints/secrets.ts";
import { plainText } from "../plain-text.ts";
import { EMBEDDED_BASE_URL } from "../endpoints/providers.ts";
import { MAX_BUDGET_USD, MIN_BUDGET_USD } from "../../limits.ts";
import { CLIENT_TYPES } from "../plan/run-config.ts";

export const shortText = (most: number) =>
  plainText(most)
    .min(1, { abort: true })
    .refine((text) => text.trim() !== "", "must hold more than blanks");
/** Dollars that may be spent. */
export const budgetUsd = z.number().min(MIN_BUDGET_USD).max(MAX_BUDGET_USD);
/** Name of a variable that holds a key. */
export const keyVariable = z
  .string()
  .refine(isKeyVariable, "must be the name of a variable that holds a key: capitals, digits and _, none of the service's own");
/** Where something is in a row: dots lead into objects. */
export const rowKey = plainText(256)
  .min(1, { abort: true })
  .refine((text) => text.trim() !== "", "must hold more than blanks");
export const jsonObject = z.record(z.string(), z.json(), "must be a JSON object");

/** An address that may appear in metadata and logs: no user or password in it. Or the name of the embedded model's. */
export const endpointUrl = z
  .string({
    error: ({ input }) =>
      Array.isArray(input) ? "a list of addresses is no longer supported: use endpoint_id, and a registry with several [[endpoint]] of that id" : undefined,
  })
  .max(2048)
  .refine((text) => {
    if (text === EMBEDDED_BASE_URL) return true;
    const url = parseUrl(text);
    return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "";
  }, `must be an http or https URL without user and password, or ${EMBEDDED_BASE_URL}`);

/** Client types of the Python tools that need what only their own servers have. */
const FOREIGN_CLIENT_TYPES = ["renderer", "nemorl_chat_completions"];

export const clientType = z.enum(CLIENT_TYPES, {
  error: ({ input }) => {
    const known = `one of ${CLIENT_TYPES.join(", ")}`;
    return FOREIGN_CLIENT_TYPES.includes(String(input)) ? `${String(input)} is not supported here: use ${known}` : `must be ${known}`;
  },
});

/** An address that is called, and stored for that; it may hold a secret in its path or query, so nothing shows more than its origin. */
export const heartbeatUrl = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = parseUrl(text);
    return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "";
  }, "must be an http or https URL without user and password");

/** Most executors that a run may ask for: the consumers of one queue (D queues/platform/limits). */
const MAX_WORKERS = 250;
const WORKERS = `must be auto or a whole number from 1 to ${MAX_WORKERS}`;

/** A number may come as the text after a flag. */
export const workerCount = z.preprocess(
  (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
  z.union([z.literal("auto"), z.int().min(1).max(MAX_WORKERS)], WORKERS),
);
