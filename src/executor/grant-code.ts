import type { Grant } from "../../durable-objects/run/protocol.ts";

/** Whether an executor whose environment has the digest `own` may work on a grant; null: it has no environment of that name. */
export const hasCodeOf = ({ env_digest }: Pick<Grant, "env_digest">, own: string | null): boolean => env_digest === undefined || env_digest === own;
